import { isJsonObject, type JsonValue } from '../plugin/json.ts'

/**
 * Lines that coding agents add to the beginning of a system prompt for the API vendor only, such as
 * billing data. Other vendors refuse them, or cannot cache a prompt that begins with one.
 */
const CLIENT_ONLY = /^(?:\s*x-anthropic-[\w-]+:[^\n]*(?:\n|$))+\s*/i

/** `system` of a messages request without such lines; unchanged if it has none. */
export function withoutClientOnly(system: JsonValue): JsonValue {
  if (typeof system === 'string') return system.replace(CLIENT_ONLY, '')
  if (!Array.isArray(system)) return system
  const kept = system.flatMap((block) => {
    if (!isJsonObject(block) || typeof block.text !== 'string') return [block]
    const text = block.text.replace(CLIENT_ONLY, '')
    if (text === block.text) return [block]
    return text === '' ? [] : [{ ...block, text }]
  })
  return kept.length === system.length && kept.every((block, i) => block === system[i])
    ? system
    : kept
}

/** Prefix of the gateway's own thinking data: signatures, redacted thoughts of other models. */
export const OWN_THINKING = 'model-gateway:'
/** The signature for thinking from a model that does not sign. */
export const UNSIGNED = `${OWN_THINKING}unsigned`
