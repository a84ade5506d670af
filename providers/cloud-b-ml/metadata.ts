import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Provider-specific data, under the provider's key. */
export function providerMetadata(metadata: JsonObject): JsonObject {
  return { cloud_b_ml: metadata }
}

/** Members of a reply, or of a stream event, without a chat completion counterpart. */
const KEPT: readonly (readonly [theirs: string, ours: string])[] = [
  ['additionalModelResponseFields', 'additional_model_response_fields'],
  ['trace', 'trace'],
  ['performanceConfig', 'performance_config'],
  ['serviceTier', 'service_tier'],
]

/** Stop reasons that `finish_reason` expresses fully. */
const EXPRESSED: ReadonlySet<unknown> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
])

/** Those members under our names, if any; above all a guardrail's trace. */
export function keptFacts(from: JsonObject): JsonObject {
  const facts: Record<string, JsonValue> = {}
  for (const [theirs, ours] of KEPT) {
    const value = from[theirs]
    if (isJsonObject(value) && Object.keys(value).length > 0) facts[ours] = value
  }
  const { stopReason } = from
  if (typeof stopReason === 'string' && !EXPRESSED.has(stopReason)) facts.stop_reason = stopReason
  return facts
}

/** An image of a reply in chat completion format; undefined if its bytes are stored elsewhere. */
export function imagePart(format: JsonValue | undefined, data: string | undefined) {
  if (typeof format !== 'string' || data === undefined || data === '') return undefined
  return { type: 'image_url', image_url: { url: `data:image/${format};base64,${data}` } }
}
