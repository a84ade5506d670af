import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { safeUpstreamMessage } from 'model-gateway/provider'
import { strayWords, type Usage } from 'model-gateway/wire'

/** A reply as an object. Throws GatewayError `upstream_transport`. */
export function replyObject(body: JsonValue): JsonObject {
  if (!isJsonObject(body)) throw malformed('it is not a JSON object', undefined)
  return body
}

/**
 * The main list of a reply, under the first of these names that is present. Throws GatewayError
 * `upstream_transport`, with the usage, for a reply without it.
 */
export function replyList(
  body: JsonObject,
  names: readonly string[],
  usage: Usage | undefined,
): readonly JsonValue[] {
  for (const name of names) {
    const list = body[name]
    if (Array.isArray(list)) return list
  }
  const { error } = body
  const message = isJsonObject(error) ? error.message : error
  const fault =
    typeof message === 'string'
      ? `it is an error: ${safeUpstreamMessage(message)}`
      : `${names.join(' or ')} is not an array${strayWords(body)}`
  throw malformed(fault, usage)
}

function malformed(what: string, usage: Usage | undefined): GatewayError {
  return new GatewayError(
    'upstream_transport',
    `malformed reply of the upstream: ${what}`,
    usage === undefined ? {} : { usage },
  )
}
