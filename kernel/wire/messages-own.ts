import { isJsonObject, type JsonValue } from '../plugin/json.ts'

/**
 * Lines that coding agents put at the head of a system prompt for the vendor of the API alone, such as
 * what a call is billed to. Others refuse them, or cache nothing of a prompt that begins with one.
 */
const CLIENT_ONLY = /^(?:\s*x-anthropic-[\w-]+:[^\n]*(?:\n|$))+\s*/i

/** `system` of a messages request without such lines; the same where there is none. */
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

/** Begins what only the gateway can read of thinking: signatures, and redacted thoughts of other models. */
export const OWN_THINKING = 'model-gateway:'
/** The signature of thinking that came from a model that signs none. */
export const UNSIGNED = `${OWN_THINKING}unsigned`
