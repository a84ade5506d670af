import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { OutboundBody } from './outbound-body.ts'

/**
 * Removes `provider_metadata.<type>.reasoning` from assistant messages: it is for the caller to
 * read, and not sent in later turns.
 */
export function dropPreservedReasoning(body: OutboundBody): void {
  const messages = body.get('messages')
  if (!Array.isArray(messages)) return
  let changed = false
  const kept = messages.map((message) => {
    const plain = withoutReasoning(message)
    if (plain !== message) changed = true
    return plain
  })
  if (changed) body.set('messages', kept)
}

function withoutReasoning(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || message.role !== 'assistant') return message
  const { provider_metadata: metadata, ...rest } = message
  if (!isJsonObject(metadata) || !Object.values(metadata).some(holdsReasoning)) return message
  const kept: JsonObject = {}
  for (const [type, own] of Object.entries(metadata)) {
    if (!holdsReasoning(own)) {
      kept[type] = own
      continue
    }
    const { reasoning: _, ...others } = own
    if (Object.keys(others).length > 0) kept[type] = others
  }
  return Object.keys(kept).length > 0 ? { ...rest, provider_metadata: kept } : rest
}

function holdsReasoning(own: JsonValue | undefined): own is JsonObject {
  return isJsonObject(own) && own.reasoning !== undefined
}
