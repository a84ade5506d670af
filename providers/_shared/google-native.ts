import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute, ProviderCall, RouteSpec } from 'model-gateway/provider'
import { EVENT_STREAM, postJson, readJsonReply } from './compat-http.ts'
import { type GoogleModel, readGoogleStream, tierModifiers } from './google-chat.ts'
import { mergeDeepInto } from './merge-extra-body.ts'
import { type OutboundBody, outboundBody } from './outbound-body.ts'

/** The dialect of generateContent. */
export const GOOGLE = 'google'

/**
 * Sends generateContent calls unchanged, and returns replies and stream responses unchanged.
 * `model` and `stream` are not sent, because the API has them in its path. `extra_body` is merged
 * recursively.
 */
export function nativeGoogle(
  model: GoogleModel,
  { extraBody }: Pick<RouteSpec, 'extraBody'>,
): Execute {
  return async (call) => {
    const body = outboundBody(call)
    for (const name of ['model', 'stream']) if (body.get(name) !== undefined) body.remove(name)
    if (model.providerType === 'gemini') dropLabels(body, call)
    else dropCallIds(body, call)
    mergeDeepInto(body, extraBody)
    const billingModifiers = tierModifiers(model, body.get)
    const text = body.text()
    if (!call.stream) {
      const response = await postJson(model.buffered, call, text, 'application/json')
      return { kind: 'buffered', ...(await readJsonReply(response)), billingModifiers }
    }
    const response = await postJson(model.streamed, call, text, EVENT_STREAM)
    return { kind: 'stream', events: readGoogleStream(response), billingModifiers }
  }
}

type Dropping = Pick<ProviderCall, 'dropped'>

/** Only Vertex AI has labels. */
function dropLabels(body: OutboundBody, { dropped }: Dropping): void {
  if (body.get('labels') === undefined) return
  body.remove('labels')
  dropped('labels')
}

const CALLS = ['functionCall', 'function_call', 'functionResponse', 'function_response'] as const

/** Vertex AI refuses AI Studio's call ids, and matches results by order (vercel/ai#15664). */
function dropCallIds(body: OutboundBody, { dropped }: Dropping): void {
  const contents = body.get('contents')
  const bare = mapList(contents, (content) => {
    if (!isJsonObject(content)) return content
    const parts = mapList(content.parts, withoutId)
    return parts === content.parts ? content : { ...content, parts: parts ?? null }
  })
  if (bare === contents || bare === undefined) return
  body.set('contents', bare)
  dropped('contents[].parts[].functionCall.id')
}

function withoutId(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part
  const name = CALLS.find((each) => isJsonObject(part[each]))
  const call = name && part[name]
  if (!isJsonObject(call) || call.id === undefined) return part
  const { id: _, ...rest } = call
  return { ...part, [name as string]: rest }
}

/** The same list if nothing changes, and the same value if it is not a list. */
function mapList(
  value: JsonValue | undefined,
  change: (entry: JsonValue) => JsonValue,
): JsonValue | undefined {
  if (!Array.isArray(value)) return value
  const list = value.map(change)
  return list.some((entry, i) => entry !== value[i]) ? list : value
}
