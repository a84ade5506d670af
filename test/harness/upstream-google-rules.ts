/**
 * What Vertex AI refuses in a GenerateContentRequest. Names are those of
 * `google.cloud.aiplatform.v1` (google-cloud-aiplatform 2.7.0 on PyPI); each rule cites where its
 * words were reported.
 */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Members of a message by name: those of another message, or anything. */
interface Names {
  readonly [name: string]: Names | true
}

const file: Names = { mimeType: true, fileUri: true, displayName: true }
const blob: Names = { mimeType: true, data: true, displayName: true }
const content: Names = {
  role: true,
  parts: {
    text: true,
    inlineData: blob,
    fileData: file,
    functionCall: { name: true, args: true },
    functionResponse: {
      name: true,
      response: true,
      parts: { inlineData: blob, fileData: file },
    },
    executableCode: { language: true, code: true },
    codeExecutionResult: { outcome: true, output: true },
    thought: true,
    thoughtSignature: true,
    videoMetadata: true,
    mediaResolution: true,
  },
}

const REQUEST: Names = {
  contents: content,
  systemInstruction: content,
  cachedContent: true,
  tools: {
    functionDeclarations: {
      name: true,
      description: true,
      parameters: true,
      parametersJsonSchema: true,
      response: true,
      responseJsonSchema: true,
    },
    retrieval: true,
    googleSearch: true,
    googleSearchRetrieval: true,
    googleMaps: true,
    enterpriseWebSearch: true,
    codeExecution: true,
    urlContext: true,
    computerUse: true,
  },
  toolConfig: {
    functionCallingConfig: {
      mode: true,
      allowedFunctionNames: true,
      streamFunctionCallArguments: true,
    },
    retrievalConfig: true,
  },
  labels: true,
  safetySettings: { category: true, threshold: true, method: true },
  modelArmorConfig: true,
  // Not of this client, but of @google/genai.
  serviceTier: true,
  generationConfig: {
    ...{ temperature: true, topP: true, topK: true, candidateCount: true, maxOutputTokens: true },
    ...{ stopSequences: true, responseLogprobs: true, logprobs: true, presencePenalty: true },
    ...{ frequencyPenalty: true, seed: true, responseMimeType: true, responseSchema: true },
    ...{ responseJsonSchema: true, routingConfig: true, audioTimestamp: true },
    ...{ responseModalities: true, mediaResolution: true, speechConfig: true, imageConfig: true },
    thinkingConfig: { includeThoughts: true, thinkingBudget: true, thinkingLevel: true },
  },
}

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** The words of the service for what is wrong with a request; undefined if nothing is. */
export function contentRefusal(path: string, body: JsonObject): string | undefined {
  const model = /\/models\/([^:]+):/.exec(path)?.[1] ?? ''
  return (
    unknownName(body, REQUEST, '') ??
    configRefusal(body) ??
    declarationRefusal(objects(body.tools)) ??
    turnRefusal(objects(body.contents), Number(/gemini-(\d+)/.exec(model)?.[1] ?? 0) >= 3)
  )
}

function unknownName(value: JsonValue | undefined, names: Names, at: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = unknownName(item, names, `${at}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  for (const [name, member] of Object.entries(value)) {
    const known = names[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]
    const place = at === '' ? '' : ` at '${at}'`
    if (known === undefined) {
      return `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`
    }
    const path = at === '' ? snake(name) : `${at}.${snake(name)}`
    const found = known === true ? undefined : unknownName(member, known, path)
    if (found !== undefined) return found
  }
  return undefined
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function configRefusal({ generationConfig }: JsonObject): string | undefined {
  const { seed } = isJsonObject(generationConfig) ? generationConfig : {}
  if (seed === undefined || (Number.isInteger(seed) && Math.abs(Number(seed)) < 2 ** 31)) {
    return undefined
  }
  return `Invalid value at 'generation_config.seed' (TYPE_INT32), ${seed}`
}

function declarationRefusal(tools: readonly JsonObject[]): string | undefined {
  const seen = new Set<JsonValue | undefined>()
  for (const { name } of tools.flatMap((tool) => objects(tool.functionDeclarations))) {
    if (!FUNCTION_NAME.test(String(name))) {
      return `Invalid function name. Must start with a letter or an underscore: ${name}`
    }
    // google-gemini/gemini-cli#2388
    if (seen.has(name)) return `Duplicate function declaration found: ${name}`
    seen.add(name)
  }
  return undefined
}

/** The rules of turns; Gemini 3 has more of them. */
function turnRefusal(contents: readonly JsonObject[], strict: boolean): string | undefined {
  if (contents.length === 0) return 'at least one contents field is required'
  let calls = 0
  let before: JsonValue | undefined = 'user'
  for (const { role, parts: list } of contents) {
    const parts = objects(list)
    const found = partsRefusal(parts)
    if (found !== undefined) return found
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    const responses = parts.filter((part) => part.functionResponse !== undefined).length
    const called = parts.filter((part) => part.functionCall !== undefined).length
    // envoyproxy/ai-gateway#2686
    if (responses > 0 && responses < parts.length) return 'a function response shares its content'
    if (responses !== calls) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    if (called > 0 && before !== 'user') {
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    }
    calls = called
    before = role
  }
  if (calls > 0) return 'Please ensure that function response turn comes immediately after it.'
  if (!strict) return undefined
  // BerriAI/litellm#38652
  if (before === 'model') return 'Requests ending with a model turn are not supported.'
  return signatureRefusal(contents)
}

function partsRefusal(parts: readonly JsonObject[]): string | undefined {
  if (parts.length === 0) {
    return 'Unable to submit request because it must include at least one parts field, which describes the prompt input.'
  }
  for (const { text, thoughtSignature, functionCall, functionResponse, fileData } of parts) {
    if (thoughtSignature !== undefined && !BASE64.test(String(thoughtSignature))) {
      return "Invalid value at 'thought_signature' (TYPE_BYTES), Base64 decoding failed"
    }
    // Portkey-AI/gateway#462
    if (text === '' && thoughtSignature === undefined) {
      return 'Unable to submit request because it has an empty text parameter.'
    }
    for (const [value, member] of [
      [functionCall, 'args'],
      [functionResponse, 'response'],
    ] as const) {
      if (!isJsonObject(value)) continue
      if (!FUNCTION_NAME.test(String(value.name))) return `Invalid function name: ${value.name}`
      if (!isJsonObject(value[member])) return `Invalid value at '${member}' (Struct)`
    }
    if (isJsonObject(fileData) && typeof fileData.mimeType !== 'string') {
      return 'Unable to submit request because it must have a mimeType parameter.'
    }
  }
  return undefined
}

/** discuss.ai.google.dev/t/109823 */
function signatureRefusal(contents: readonly JsonObject[]): string | undefined {
  const spoke = contents.findLastIndex(
    ({ role, parts }) =>
      role === 'user' && objects(parts).every(({ functionResponse }) => !functionResponse),
  )
  for (const { parts } of contents.slice(spoke + 1)) {
    const first = objects(parts).find(({ functionCall }) => functionCall !== undefined)
    if (first !== undefined && first.thoughtSignature === undefined) {
      return 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
    }
  }
  return undefined
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
