import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ReplyFacts } from 'model-gateway/surface'
import { failureOf, isPresent, readMessagesUsage, strayWords } from 'model-gateway/wire'

/** Reads the facts of a message. Throws as `Dialect.readReply` does. */
export function readMessage(value: JsonValue): ReplyFacts {
  const body = isJsonObject(value) ? value : {}
  const usage = readMessagesUsage(body.usage)
  if (Array.isArray(body.content)) {
    return { usage, invokedToolCount: body.content.filter(isToolUse).length }
  }
  const what = isPresent(body.error)
    ? `it is an error: ${failureOf(body).message}`
    : `content is not an array${strayWords(body)}`
  throw new GatewayError(
    'upstream_transport',
    `malformed reply of the upstream: ${what}`,
    usage === undefined ? {} : { usage },
  )
}

/** A block that calls a tool of the caller or a hosted one: `tool_use`, `server_tool_use`, … */
export function isToolUse(block: JsonValue | undefined): block is JsonObject {
  return isJsonObject(block) && typeof block.type === 'string' && block.type.endsWith('tool_use')
}
