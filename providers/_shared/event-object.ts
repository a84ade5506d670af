import {
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
} from 'model-gateway/plugin'

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
