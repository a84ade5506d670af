import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { googleSchema } from './google-content-schema.ts'
import { invalidRequest } from './invalid-request.ts'

/** Chat fields with another name in `generationConfig`; the first that is set is used. */
const RENAMED: readonly (readonly [config: string, ...chat: string[]])[] = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['maxOutputTokens', 'max_tokens', 'max_completion_tokens'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['seed', 'seed'],
  ['candidateCount', 'n'],
  ['responseLogprobs', 'logprobs'],
  ['logprobs', 'top_logprobs'],
]

const LEVELS: ReadonlyMap<JsonValue, string> = new Map([
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
])

/** Thinking tokens for each effort, for models with budgets. */
const BUDGETS: ReadonlyMap<JsonValue, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
])

/** Members of a call that `generationConfig` is built from. */
export const CONFIG_PARAMS = [
  ...RENAMED.flatMap(([, ...chat]) => chat),
  ...['stop', 'response_format', 'reasoning_effort', 'reasoning', 'modalities', 'audio'],
]

/** `generationConfig` of a chat call; may be empty. Throws `invalid_request`. */
export function generationConfig(
  params: JsonObject,
  upstreamModel: string,
  stream: boolean,
): JsonObject {
  const config: JsonObject = {}
  for (const [name, ...fields] of RENAMED) {
    const value = fields.map((field) => params[field]).find((v) => v !== undefined)
    if (value !== undefined) config[name] = value
  }
  if (typeof config.seed === 'number') config.seed = shortSeed(config.seed)
  const { stop, modalities } = params
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((word) => word !== '')
  if (stop !== undefined && stops.length > 0) config.stopSequences = stops as JsonValue[]
  if (Array.isArray(modalities)) {
    config.responseModalities = modalities.map((kind) => String(kind).toUpperCase())
  }
  const thinkingConfig = thinking(params, upstreamModel)
  return {
    ...config,
    ...responseFormat(params.response_format),
    ...speech(params, stream),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  }
}

/** Equal seeds map to equal seeds: the service takes only 31 bits. */
function shortSeed(seed: number): number {
  return Number.isInteger(seed) ? Math.abs(seed) % 2 ** 31 : seed
}

function responseFormat(format: JsonValue | undefined): JsonObject {
  if (format === undefined) return {}
  const type = isJsonObject(format) ? format.type : undefined
  if (type === 'json_object') return { responseMimeType: 'application/json' }
  const definition = isJsonObject(format) ? format.json_schema : undefined
  if (type !== 'json_schema' || !isJsonObject(definition)) {
    throw invalidRequest('response_format must be text, json_object or a json_schema')
  }
  const { schema } = definition
  return {
    responseMimeType: 'application/json',
    ...(isJsonObject(schema) ? { responseJsonSchema: googleSchema(schema) } : {}),
  }
}

/** The voice of an answer in sound. A stream has it raw, as it has of OpenAI. */
function speech({ audio }: JsonObject, stream: boolean): JsonObject {
  if (audio === undefined) return {}
  if (!isJsonObject(audio)) throw invalidRequest('audio must be an object')
  const { voice, format = 'pcm16' } = audio
  if (format !== 'pcm16' && (stream || format !== 'wav')) {
    const possible = stream ? 'pcm16' : 'pcm16 or wav'
    throw invalidRequest(`audio.format must be ${possible}, not ${JSON.stringify(format)}`)
  }
  if (typeof voice !== 'string') return {}
  return { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } }
}

function thinking(body: JsonObject, upstreamModel: string): JsonObject | undefined {
  const effort = readEffort(body)
  if (effort === undefined) return undefined
  const value = effortMember(upstreamModel, effort)
  if (value === undefined) {
    throw invalidRequest(`reasoning_effort: ${upstreamModel} has no ${JSON.stringify(effort)}`)
  }
  return effort === 'none' ? value : { ...value, includeThoughts: true }
}

function readEffort(body: JsonObject): JsonValue | undefined {
  const reasoning = body.reasoning ?? undefined
  if (reasoning !== undefined && !isJsonObject(reasoning)) {
    throw invalidRequest('reasoning must be an object')
  }
  const efforts = [body.reasoning_effort, reasoning?.effort].filter(
    (e) => e !== undefined && e !== null,
  )
  const [first, second] = efforts
  if (second !== undefined && second !== first) {
    throw invalidRequest('reasoning_effort and reasoning.effort contradict each other')
  }
  return first
}

/** The version in a Gemini model id; zeros if missing. */
function geminiVersion(upstreamModel: string): readonly [major: number, minor: number] {
  const version = /gemini-(\d+)(?:\.(\d+))?/.exec(upstreamModel.toLowerCase())
  return [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)]
}

/** Gemini 3 and later, by the id; ids without a version refer to the latest model. */
export function isNewerGemini(upstreamModel: string): boolean {
  return geminiVersion(upstreamModel)[0] >= 3 || /gemini-(?!\d)/i.test(upstreamModel)
}

/** Whether thinking can be configured for the model. */
export function takesThinking(upstreamModel: string): boolean {
  return effortMember(upstreamModel, 'low') !== undefined
}

/** Gemini 2.5 takes token budgets, later models levels; never both. */
function effortMember(upstreamModel: string, effort: JsonValue): JsonObject | undefined {
  const [major, minor] = geminiVersion(upstreamModel)
  if (isNewerGemini(upstreamModel)) {
    const thinkingLevel = LEVELS.get(effort)
    return thinkingLevel === undefined ? undefined : { thinkingLevel }
  }
  const thinkingBudget = major === 2 && minor >= 5 ? BUDGETS.get(effort) : undefined
  return thinkingBudget === undefined ? undefined : { thinkingBudget }
}
