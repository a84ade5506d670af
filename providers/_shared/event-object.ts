import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'

/** The JSON object of a streamed event. Throws GatewayError `upstream_transport` for other data. */
export function eventObject(event: StreamEvent): JsonObject {
  let data: JsonValue
  try {
    data = event.json()
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'malformed event: the data is not JSON', { cause })
  }
  if (isJsonObject(data)) return data
  throw new GatewayError('upstream_transport', 'malformed event: the data is not a JSON object')
}
