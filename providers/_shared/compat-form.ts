import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { Execute, ProviderCall } from 'model-gateway/provider'
import { isUpload, uploadedFile, writeForm } from 'model-gateway/uploads'
import { isPresent } from 'model-gateway/wire'
import {
  type CompatEndpoint,
  EVENT_STREAM,
  post,
  readAnswer,
  type UpstreamResponse,
} from './compat-http.ts'
import type { JsonRoute } from './compat-json.ts'
import { mergeExtraBody, outboundBody } from './outbound-body.ts'
import { soundLength } from './sound-length.ts'

/**
 * The caller's form with `model` and `extra_body`; the reply's bytes. A call without a file is sent
 * by `json`.
 */
export function imageFormExecutor(
  endpoint: CompatEndpoint,
  route: JsonRoute,
  json: Execute,
): Execute {
  return async (call) => {
    if (!Object.values(call.body).flat().some(isUpload)) return await json(call)
    return await readAnswer(await postForm(endpoint, call, route), call)
  }
}

/**
 * The same for audio: a text reply, such as subtitles, becomes the member `text`. If the upstream
 * reports no usage, the file's length is used.
 */
export function soundFormExecutor(endpoint: CompatEndpoint, route: JsonRoute): Execute {
  return async (call) => {
    const response = await postForm(endpoint, call, route)
    if (call.stream) return await readAnswer(response, call)
    const { text, json } = await readText(response)
    const body = json ?? { text }
    if (isPresent(body.usage) || isPresent(body.duration)) {
      return { kind: 'buffered', body, ...(json !== undefined && { rawBody: text }) }
    }
    const { file } = call.body
    const seconds = isUpload(file) ? await soundLength(uploadedFile(file)) : undefined
    if (seconds === undefined) return { kind: 'buffered', body }
    return { kind: 'buffered', body: { ...body, usage: { type: 'duration', seconds } } }
  }
}

async function postForm(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  { upstreamModel, extraBody, checkChoices }: JsonRoute,
): Promise<UpstreamResponse> {
  checkChoices(call.body)
  const body = outboundBody(call)
  body.set('model', upstreamModel)
  mergeExtraBody(body, extraBody)
  const form = await writeForm(body.members())
  return await post(endpoint, call, form, call.stream ? EVENT_STREAM : '*/*')
}

/** The reply as text and, if possible, as a JSON object. Throws GatewayError. */
async function readText(response: UpstreamResponse): Promise<{ text: string; json?: JsonObject }> {
  const text = new TextDecoder().decode(await response.bytes())
  const isJson = response.headers.get('content-type')?.includes('json') || /^\s*\{/.test(text)
  if (!isJson) return { text }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'the upstream did not answer with JSON', { cause })
  }
  // OpenAI sends JSON text with this content type if `text` is requested.
  if (typeof json === 'string') return { text: json }
  return isJsonObject(json) ? { text, json } : { text }
}
