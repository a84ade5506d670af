import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Dialect, GuardTexts, SurfaceCall, SurfaceDoor } from 'model-gateway/surface'
import { isUpload, type Uploads } from 'model-gateway/uploads'
import { failureOf, invalid, isPresent, readCommon, type Usage } from 'model-gateway/wire'
import { audioEvent, bodiesOf, createAudioStream } from './stream.ts'
import { audioUsage, secondsOf } from './usage.ts'

export const TRANSCRIPTIONS = 'audio.transcriptions'
export const TRANSLATIONS = 'audio.translations'

const DELTA = 'transcript.text.delta'
const SEGMENT = 'transcript.text.segment'
const DONE = 'transcript.text.done'

/** The transcription in any format; text formats are the member `text`. */
export function transcriptDialect(id: string): Dialect {
  return {
    id,
    namesModel: false,
    readReply(value) {
      const body = isJsonObject(value) ? value : {}
      const usage = usageOf(body)
      if (typeof body.text === 'string') return { usage, invokedToolCount: undefined }
      const what = isPresent(body.error)
        ? `it is an error: ${failureOf(body).message}`
        : 'text is not a string'
      throw new GatewayError(
        'upstream_transport',
        `malformed reply of the upstream: ${what}`,
        usage === undefined ? {} : { usage },
      )
    },
    streaming: {
      open: () => createAudioStream(DONE, usageOf),
      collect(events) {
        const bodies = bodiesOf(events)
        const segments = bodies.filter(({ type }) => type === SEGMENT)
        const { type: _, ...done } = bodies.find(({ type }) => type === DONE) ?? {}
        const said = segments.map(({ type: _, ...segment }) => segment)
        return { ...done, ...(said.length > 0 && { segments: said }) }
      },
      tell: ({ segments, ...reply }) => [
        ...listOf(segments).map((segment) => audioEvent(SEGMENT, segment)),
        // A stream of segments has no deltas.
        ...(Array.isArray(segments) ? [] : [audioEvent(DELTA, { delta: reply.text ?? '' })]),
        audioEvent(DONE, reply),
      ],
      textOf: textOfEvent,
    },
    views: { replyTexts: transcriptTexts },
  }
}

/** Usage from the upstream or, for models priced by the second, the audio's length. */
function usageOf({ usage, duration }: JsonObject): Usage | undefined {
  return audioUsage(usage, 'input') ?? secondsOf(duration)
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textOfEvent(data: string): string {
  try {
    const body: JsonValue = JSON.parse(data)
    if (!isJsonObject(body)) return ''
    const text = body.type === DELTA ? body.delta : body.type === SEGMENT ? body.text : undefined
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}

/**
 * The whole text and its segments. Words and tokens repeat it, so they are removed when it changes.
 */
function transcriptTexts(reply: JsonObject): GuardTexts {
  const segments = listOf(reply.segments)
  const texts = [reply, ...segments].map(({ text }) => (typeof text === 'string' ? text : ''))
  const isText = (text: string) => text !== ''
  return {
    segments: texts.filter(isText),
    replace(others) {
      let at = 0
      const [whole = '', ...parts] = texts.map((text) =>
        isText(text) ? (others[at++] ?? text) : text,
      )
      if ([whole, ...parts].every((text, i) => text === texts[i])) return reply
      const { words: _, logprobs: __, ...rest } = reply
      const changed = segments.map(({ tokens: _, words: __, ...segment }, i) => ({
        ...segment,
        text: parts[i] ?? '',
      }))
      return { ...rest, text: whole, ...(Array.isArray(reply.segments) && { segments: changed }) }
    },
  }
}

/** Throws GatewayError `invalid_request` with the field name. */
export function readTranscription(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be multipart/form-data')
  const { model, stream } = readCommon(value)
  if (!isUpload(value.file)) {
    throw invalid('file must be one file: send multipart/form-data with a field file')
  }
  return { model, stream, features: stream ? ['stream'] : [], exposedToolCount: undefined }
}

/** Formats whose reply is plain text, with their media types. */
const TEXTS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['text', 'text/plain; charset=utf-8'],
  ['srt', 'application/x-subrip; charset=utf-8'],
  ['vtt', 'text/vtt; charset=utf-8'],
])

export function createTranscriptionDoor(uploads: () => Uploads): SurfaceDoor {
  const types = new WeakMap<object, string>()
  return {
    async read(call) {
      const text = await uploads().receive(call, 'file')
      const type = TEXTS.get(formatIn(text))
      if (type !== undefined) types.set(call, type)
      return text
    },
    async write(reply, call) {
      uploads().release(call)
      const type = types.get(call)
      const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true
      if (type === undefined || reply.status !== 200 || !isJson) return reply
      const { text } = (await reply.json()) as { text: string }
      const headers = new Headers(reply.headers)
      headers.set('content-type', type)
      return new Response(text, { headers })
    },
  }
}

function formatIn(text: string): JsonValue | undefined {
  try {
    return (JSON.parse(text) as JsonObject).response_format
  } catch {
    return undefined
  }
}
