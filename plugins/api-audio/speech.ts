import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Dialect, SurfaceCall, SurfaceDoor } from 'model-gateway/surface'
import { decodeSse, invalid, isPresent, readCommon, strayWords } from 'model-gateway/wire'
import { audioEvent, bodiesOf, createAudioStream } from './stream.ts'
import { audioUsage, charactersOf } from './usage.ts'

export const SPEECH = 'audio.speech'

/** An event of the gateway: comes first if the caller wants audio bytes, and has their type. */
const START = 'speech.audio.start'
const DELTA = 'speech.audio.delta'
const DONE = 'speech.audio.done'

/**
 * Speech as a stream of events, also if the caller gets audio bytes: the upstream's audio is sent
 * in pieces. https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event
 */
export const speech: Dialect = {
  id: SPEECH,
  namesModel: false,
  readReply(value) {
    const body = isJsonObject(value) ? value : {}
    if (typeof body.audio === 'string') {
      return { usage: usageOf(body), invokedToolCount: undefined }
    }
    throw new GatewayError(
      'upstream_transport',
      `malformed reply of the upstream: audio is not a string${strayWords(body)}`,
    )
  },
  streaming: {
    open: () => createAudioStream(DONE, usageOf),
    collect(events) {
      const bodies = bodiesOf(events)
      const sound = bodies.map(({ audio }) => soundOf(audio))
      const start = bodies.find(({ type }) => type === START)
      const usage = bodies.find(({ type }) => type === DONE)?.usage
      return {
        audio: Buffer.concat(sound).toString('base64'),
        ...(start !== undefined && { content_type: start.content_type ?? null }),
        ...(usage !== undefined && { usage }),
      }
    },
    tell: ({ audio, content_type, usage }) => [
      ...(content_type === undefined ? [] : [audioEvent(START, { content_type })]),
      audioEvent(DELTA, { audio: audio ?? '' }),
      audioEvent(DONE, usage === undefined ? {} : { usage }),
    ],
    textOf: () => '',
  },
  views: { replyTexts: (body) => ({ segments: [], replace: () => body }) },
}

function usageOf({ usage }: JsonObject) {
  const characters = isJsonObject(usage) ? usage.characters : undefined
  return isPresent(characters) ? charactersOf(characters) : audioUsage(usage, 'output')
}

function soundOf(audio: JsonValue | undefined): Buffer {
  return Buffer.from(typeof audio === 'string' ? audio : '', 'base64')
}

/** Throws GatewayError `invalid_request` with the field name. */
export function readSpeech(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const { model } = readCommon({ ...value, stream: false })
  const { input, stream_format: format } = value
  if (typeof input !== 'string' || input === '') {
    throw invalid('input must be a non-empty string: the text to speak')
  }
  if (isPresent(format) && format !== 'audio' && format !== 'sse') {
    throw invalid("stream_format must be 'audio' or 'sse'")
  }
  return { model, stream: true, features: [], exposedToolCount: undefined }
}

/**
 * The audio bytes of the events, as they arrive; with `stream_format: sse` callers get the events.
 */
export function createSpeechDoor(): SurfaceDoor {
  const events = new WeakSet<object>()
  return {
    async read(call) {
      const text = await call.text()
      if (/"stream_format"\s*:\s*"sse"/.test(text)) events.add(call)
      return text
    },
    write: (reply, call) =>
      events.has(call) ||
      reply.headers.get('content-type')?.startsWith('text/event-stream') !== true
        ? reply
        : soundReply(reply),
  }
}

/** The members of the events that are not audio. */
type Aside = { readonly contentType?: JsonValue | undefined; readonly error?: JsonObject }

/** The type comes with the first event, so the response head waits for it. */
async function soundReply(reply: Response): Promise<Response> {
  const batches = decodeSse(reply.body ?? new ReadableStream())[Symbol.asyncIterator]()
  async function next() {
    const { done, value = [] } = await batches.next()
    const bodies = bodiesOf(value)
    const error = bodies.find((body) => isPresent(body.error) || body.type === 'error')
    const contentType = bodies.find(({ type }) => type === START)?.content_type
    const aside: Aside = { contentType, ...(error && { error }) }
    return { done, ...aside, sound: Buffer.concat(bodies.map(({ audio }) => soundOf(audio))) }
  }
  let piece: Awaited<ReturnType<typeof next>> | undefined = await next()
  const headers = new Headers(reply.headers)
  if (piece.error !== undefined) {
    await batches.return?.()
    headers.set('content-type', 'application/json; charset=utf-8')
    return Response.json(piece.error, { status: 502, headers })
  }
  const { contentType } = piece
  headers.set('content-type', typeof contentType === 'string' ? contentType : 'audio/mpeg')
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, sound, error } = piece ?? (await next())
      piece = undefined
      // Audio cannot contain an error message: the connection is aborted, and the log has the
      // error.
      if (error !== undefined) return controller.error(new Error('the audio stream ended early'))
      if (sound.length > 0) controller.enqueue(sound)
      if (done) controller.close()
    },
    async cancel() {
      await batches.return?.()
    },
  })
  return new Response(body, { status: reply.status, headers })
}
