import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isHeartbeat, type StreamEvent } from 'model-gateway/wire'

/**
 * The JSON object of a streamed event; an empty one for a keep-alive event. Throws GatewayError
 * `upstream_transport` for other data.
 */
export function eventObject(event: StreamEvent): JsonObject {
  let data: JsonValue | undefined
  let cause: unknown
  try {
    data = event.json()
  } catch (error) {
    cause = error
  }
  if (isJsonObject(data)) return data
  if (isHeartbeat(event)) return {}
  const what = data === undefined ? 'JSON' : 'a JSON object'
  throw new GatewayError('upstream_transport', `malformed event: the data is not ${what}`, {
    cause,
  })
}
