/**
 * What Vertex AI refuses in a GenerateContentRequest, and AI Studio. Names are those of
 * `google.cloud.aiplatform.v1` (google-cloud-aiplatform 2.7.0 on PyPI); each rule cites where its
 * words were reported.
 */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { fail } from './strict-rules.ts'

/** Members of a message by name: those of another message, or anything. */
interface Names {
  readonly [name: string]: Names | true
}

const file: Names = { mimeType: true, fileUri: true, displayName: true }
const blob: Names = { mimeType: true, data: true, displayName: true }
const content = (id: Names): Names => ({
  role: true,
  parts: {
    text: true,
    inlineData: blob,
    fileData: file,
    functionCall: { name: true, args: true, ...id },
    functionResponse: {
      name: true,
      ...id,
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
})

const REQUEST: Names = {
  contents: content({}),
  systemInstruction: content({}),
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

/** AI Studio gives calls ids, and has no labels. https://ai.google.dev/api/generate-content */
const { labels: _, ...OTHERS } = REQUEST
const STUDIO_REQUEST: Names = { ...OTHERS, contents: content({ id: true }) }

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Fails for a request that is refused. `path` names the model. */
export function checkContent(path: string, body: JsonObject): void {
  const model = /\/models\/([^:]+):/.exec(path)?.[1] ?? ''
  checkNames(body, path.startsWith('/v1beta/') ? STUDIO_REQUEST : REQUEST, '')
  checkConfig(body)
  checkDeclarations(objects(body.tools))
  checkTurns(objects(body.contents), Number(/gemini-(\d+)/.exec(model)?.[1] ?? 0) >= 3)
}

function checkNames(value: JsonValue | undefined, names: Names, at: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkNames(item, names, `${at}[${index}]`)
    return
  }
  if (!isJsonObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    const known = names[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]
    const place = at === '' ? '' : ` at '${at}'`
    if (known === undefined) {
      fail(`Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`)
    }
    if (known !== true) checkNames(member, known, at === '' ? snake(name) : `${at}.${snake(name)}`)
  }
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function checkConfig({ generationConfig }: JsonObject): void {
  const { seed } = isJsonObject(generationConfig) ? generationConfig : {}
  if (seed === undefined || (Number.isInteger(seed) && Math.abs(Number(seed)) < 2 ** 31)) return
  fail(`Invalid value at 'generation_config.seed' (TYPE_INT32), ${seed}`)
}

function checkDeclarations(tools: readonly JsonObject[]): void {
  const seen = new Set<JsonValue | undefined>()
  for (const { name } of tools.flatMap((tool) => objects(tool.functionDeclarations))) {
    if (!FUNCTION_NAME.test(String(name))) {
      fail(`Invalid function name. Must start with a letter or an underscore: ${name}`)
    }
    // google-gemini/gemini-cli#2388
    if (seen.has(name)) fail(`Duplicate function declaration found: ${name}`)
    seen.add(name)
  }
}

/** The rules of turns; Gemini 3 has more of them. */
function checkTurns(contents: readonly JsonObject[], strict: boolean): void {
  if (contents.length === 0) fail('at least one contents field is required')
  let calls = 0
  let before: JsonValue | undefined = 'user'
  for (const { role, parts: list } of contents) {
    const parts = objects(list)
    checkParts(parts)
    if (role !== 'user' && role !== 'model') fail('Please use a valid role: user, model.')
    const responses = parts.filter((part) => part.functionResponse !== undefined).length
    const called = parts.filter((part) => part.functionCall !== undefined).length
    // envoyproxy/ai-gateway#2686
    if (responses > 0 && responses < parts.length) fail('a function response shares its content')
    if (responses !== calls) {
      fail(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    if (called > 0 && before !== 'user') {
      fail(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    }
    calls = called
    before = role
  }
  if (calls > 0) fail('Please ensure that function response turn comes immediately after it.')
  if (!strict) return
  // BerriAI/litellm#38652
  if (before === 'model') fail('Requests ending with a model turn are not supported.')
  checkSignatures(contents)
}

function checkParts(parts: readonly JsonObject[]): void {
  if (parts.length === 0) {
    fail(
      'Unable to submit request because it must include at least one parts field, which describes the prompt input.',
    )
  }
  for (const { text, thoughtSignature, functionCall, functionResponse, fileData } of parts) {
    if (thoughtSignature !== undefined && !BASE64.test(String(thoughtSignature))) {
      fail("Invalid value at 'thought_signature' (TYPE_BYTES), Base64 decoding failed")
    }
    // Portkey-AI/gateway#462
    if (text === '' && thoughtSignature === undefined) {
      fail('Unable to submit request because it has an empty text parameter.')
    }
    for (const [value, member] of [
      [functionCall, 'args'],
      [functionResponse, 'response'],
    ] as const) {
      if (!isJsonObject(value)) continue
      if (!FUNCTION_NAME.test(String(value.name))) fail(`Invalid function name: ${value.name}`)
      if (!isJsonObject(value[member])) fail(`Invalid value at '${member}' (Struct)`)
    }
    if (isJsonObject(fileData) && typeof fileData.mimeType !== 'string') {
      fail('Unable to submit request because it must have a mimeType parameter.')
    }
  }
}

/** discuss.ai.google.dev/t/109823 */
function checkSignatures(contents: readonly JsonObject[]): void {
  const spoke = contents.findLastIndex(
    ({ role, parts }) =>
      role === 'user' && objects(parts).every(({ functionResponse }) => !functionResponse),
  )
  for (const { parts } of contents.slice(spoke + 1)) {
    const first = objects(parts).find(({ functionCall }) => functionCall !== undefined)
    if (first !== undefined && first.thoughtSignature === undefined) {
      fail(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
      )
    }
  }
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
