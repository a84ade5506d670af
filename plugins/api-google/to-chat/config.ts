import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { invalid, isPresent, leaveOut } from 'model-gateway/wire'
import { responseSchema } from '../_shared/request.ts'
import { member, objectIn, spelledCamel, textIn } from '../_shared/shape.ts'
import type { Target } from './conversion.ts'
import { jsonSchema } from './schema.ts'

/** Members of `generationConfig` with another name in a chat call. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['maxOutputTokens', 'max_tokens'],
  ['stopSequences', 'stop'],
  ['candidateCount', 'n'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['seed', 'seed'],
  ['responseLogprobs', 'logprobs'],
  ['logprobs', 'top_logprobs'],
])

const JSON_TYPE = 'application/json'
const SCHEMAS = /^_?response(?:Json)?Schema$/

/** Converts `generationConfig` to members of a chat call. Throws GatewayError `invalid_request`. */
export function chatConfig(request: JsonObject, target: Target, offersTools: boolean): JsonObject {
  const config = objectIn(request, 'generationConfig') ?? {}
  const call: Record<string, JsonValue> = {}
  for (const [stated, value] of Object.entries(config)) {
    if (value === undefined || value === null) continue
    const name = spelledCamel(stated)
    const renamed = RENAMED.get(name)
    if (renamed !== undefined) call[renamed] = value
    else if (name === 'topK' && !target.compatShape) call.top_k = value
    else if (name === 'thinkingConfig') Object.assign(call, effort(config, target, offersTools))
    else if (!SCHEMAS.test(name) && !isUsual(name, value)) {
      leaveOut(`generationConfig.${name}`, target)
    }
  }
  return { ...call, ...responseFormat(request, config, target) }
}

/** The default value. */
function isUsual(name: string, value: JsonValue): boolean {
  if (name === 'responseMimeType') return value === 'text/plain' || value === JSON_TYPE
  if (name === 'responseModalities') {
    return Array.isArray(value) && value.every((kind) => String(kind).toUpperCase() === 'TEXT')
  }
  return false
}

function responseFormat(request: JsonObject, config: JsonObject, target: Target): JsonObject {
  const stated = responseSchema(request)
  const isJson = textIn(config, 'responseMimeType') === JSON_TYPE
  if (stated === undefined) return isJson ? { response_format: { type: 'json_object' } } : {}
  // The API needs the MIME type with the schema; without it, or with text/x.enum, the reply is not
  // JSON.
  if (!isJson) return {}
  if (!target.jsonSchema) {
    throw invalid(
      'generationConfig.responseSchema: the route of this model does not support json_schema',
    )
  }
  const schema = stated.isJsonSchema ? stated.schema : jsonSchema(stated.schema)
  return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } }
}

/** The maximum thinking tokens for each effort, from Google's own chat completions. */
const LOW_BUDGET = 1024
const MEDIUM_BUDGET = 8192

/**
 * The reasoning effort. None and minimal become low, because not all models accept them; a budget
 * of -1 leaves it to the model.
 */
function effort(config: JsonObject, target: Target, offersTools: boolean): JsonObject {
  const thinking = objectIn(config, 'thinkingConfig') ?? {}
  const level = textIn(thinking, 'thinkingLevel')?.toLowerCase()
  const budget = member(thinking, 'thinkingBudget')
  if (!isPresent(level) && (typeof budget !== 'number' || budget < 0)) return {}
  const { takesEffort } = target
  if (takesEffort !== true && !(takesEffort === 'without_tools' && !offersTools)) {
    leaveOut('generationConfig.thinkingConfig', target)
    return {}
  }
  if (level !== undefined) return { reasoning_effort: level === 'minimal' ? 'low' : level }
  const tokens = budget as number
  return {
    reasoning_effort: tokens <= LOW_BUDGET ? 'low' : tokens <= MEDIUM_BUDGET ? 'medium' : 'high',
  }
}
