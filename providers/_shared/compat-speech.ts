import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import {
  type CompatEndpoint,
  EVENT_STREAM,
  postJson,
  readEventStream,
  readJsonReply,
  type UpstreamResponse,
} from './compat-http.ts'
import type { JsonRoute } from './compat-json.ts'
import { mergeExtraBody, outboundBody } from './outbound-body.ts'

/** Models that are priced by tokens, which only their events report. */
const COUNTS_IN_EVENTS = /gpt-4o.*-tts/i

/** https://platform.openai.com/docs/guides/text-to-speech#supported-output-formats */
const TYPES: Readonly<Record<string, string>> = {
  ...{ mp3: 'audio/mpeg', opus: 'audio/opus', aac: 'audio/aac' },
  ...{ flac: 'audio/flac', wav: 'audio/wav', pcm: 'audio/pcm' },
}

/**
 * Speech as the events of `audio.speech`, from audio bytes or events of the upstream. A caller that
 * wants audio bytes gets their type first.
 */
export function speechExecutor(
  endpoint: CompatEndpoint,
  { upstreamModel, extraBody, checkChoices }: JsonRoute,
): Execute {
  return async (call) => {
    checkChoices(call.body)
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    const wantsEvents = call.body.stream_format === 'sse'
    if (COUNTS_IN_EVENTS.test(upstreamModel)) body.set('stream_format', 'sse')
    mergeExtraBody(body, extraBody)
    const accept = body.get('stream_format') === 'sse' ? EVENT_STREAM : '*/*'
    const response = await postJson(endpoint, call, body.text(), accept)
    const stated = response.headers.get('content-type') ?? ''
    if (stated.includes('json')) {
      await readJsonReply(response)
      throw new GatewayError(
        'upstream_transport',
        'the upstream answered with JSON instead of audio',
      )
    }
    const { input, response_format: format } = call.body
    if (!stated.startsWith(EVENT_STREAM)) {
      const start = wantsEvents ? [] : [started(stated)]
      return { kind: 'stream', events: soundEvents(response, String(input), start) }
    }
    const events = await readEventStream(response)
    const start = wantsEvents ? [] : [started(TYPES[String(format ?? 'mp3')] ?? '')]
    return { kind: 'stream', events: behind(start, events) }
  }
}

function started(type: string): StreamEvent {
  return audioEvent('speech.audio.start', { content_type: type || 'audio/mpeg' })
}

async function* soundEvents(
  { body }: UpstreamResponse,
  input: string,
  start: readonly StreamEvent[],
) {
  if (start.length > 0) yield start
  for await (const piece of body) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64')
    yield [audioEvent('speech.audio.delta', { audio })]
  }
  // Other models are priced by input characters.
  const usage = { characters: [...input].length }
  yield [audioEvent('speech.audio.done', { usage })]
}

async function* behind(
  start: readonly StreamEvent[],
  events: AsyncIterable<readonly StreamEvent[]>,
) {
  if (start.length > 0) yield start
  yield* events
}

function audioEvent(type: string, members: JsonObject): StreamEvent {
  return streamEvent(JSON.stringify({ type, ...members }), type)
}
