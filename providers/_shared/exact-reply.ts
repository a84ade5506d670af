import type { JsonObject } from 'model-gateway/plugin'
import { mayBeRounded, parseExact } from 'model-gateway/wire'

/** A reply whose integers are exact, if its text is available. */
export function exactReply(reply: {
  readonly body: JsonObject
  readonly rawBody?: string
}): JsonObject {
  const { body, rawBody } = reply
  const mayDiffer = rawBody !== undefined && mayBeRounded(rawBody)
  return mayDiffer ? (parseExact(rawBody) as JsonObject) : body
}
