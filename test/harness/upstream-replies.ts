import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Exchange, Reply } from './upstream-exchange.ts'
import {
  chatCompletion,
  chatFrames,
  embeddingsList,
  type ReplyOptions,
  responseFrames,
  responseObject,
} from './upstream-families.ts'
import { otherReply } from './upstream-others.ts'

const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' }

export interface Pace {
  /** Milliseconds before each frame. Default 0. */
  readonly gapMs?: number
  /** Cuts the stream into pieces of this many bytes, whatever the frames are. */
  readonly pieceBytes?: number
}

export function json(
  body: JsonValue,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return bytes(JSON.stringify(body), 'application/json', status, headers)
}

/** Any body under any content type. */
export function bytes(
  body: string | Uint8Array,
  contentType: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return (x) => x.respond(status, { 'content-type': contentType, ...headers }, body)
}

/** An event stream of these frames, given as text or bytes, and a proper end. */
export function sse(frames: Iterable<string | Uint8Array>, pace?: Pace): Reply {
  return streamed(EVENT_STREAM, frames, pace)
}

/** The same with other headers. */
export function streamed(
  headers: Readonly<Record<string, string>>,
  frames: Iterable<string | Uint8Array>,
  pace: Pace = {},
): Reply {
  return async (x) => {
    await x.begin(200, headers)
    for (const piece of cut(frames, pace.pieceBytes)) {
      await x.sleep(pace.gapMs ?? 0)
      if (x.gone.aborted) return
      await x.write(piece)
    }
    await x.end()
  }
}

/** What an OpenAI-compatible upstream would say to the request, in all families. */
export function believable(options: ReplyOptions & Pace = {}): Reply {
  return (x) => {
    const request = isJsonObject(x.call.body) ? x.call.body : {}
    const path = x.call.path.split('?')[0] ?? ''
    if (path.endsWith('/chat/completions')) {
      return request.stream === true
        ? sse(chatFrames(request, options), options)(x)
        : json(chatCompletion(request, options))(x)
    }
    if (path.endsWith('/responses')) {
      return request.stream === true
        ? sse(responseFrames(request, options), options)(x)
        : json(responseObject(request, options))(x)
    }
    if (path.endsWith('/embeddings')) return json(embeddingsList(request, options))(x)
    const other = otherReply(path, request, options)
    if (other === undefined) return errorStatus(404, `Unknown path ${path}`)(x)
    const { whole, frames } = other
    return request.stream === true && frames ? sse(frames, options)(x) : json(whole)(x)
  }
}

/** A believable reply whose stream has this many text events, `gapMs` apart. */
export function paced(events: number, gapMs: number): Reply {
  const pieces = Array.from({ length: events }, (_, index) => `${index} `)
  return believable({ pieces, gapMs })
}

/** The reply after a silence. */
export function delayed(ms: number, reply: Reply = believable()): Reply {
  return async (x) => {
    await x.sleep(ms)
    if (!x.gone.aborted) await reply(x)
  }
}

/** An error status with an OpenAI error body. */
export function errorStatus(
  status: number,
  message = `Status ${status} on purpose`,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const error = { message, type: 'scripted_error', param: null, code: 'scripted' }
  return json({ error }, status, headers)
}

/** The upstream accepts the request and never says a word. */
export const neverAnswers: Reply = () => {}

/** A TCP reset before any byte of the reply. */
export const resetBeforeHeaders: Reply = (x) => x.reset()

/** A TCP reset after this many frames of a believable stream. */
export function resetMidStream(after = 3): Reply {
  return async (x) => {
    await x.begin(200, EVENT_STREAM)
    for (const piece of streamFrames(x).slice(0, after)) await x.write(piece)
    // Without a pause the reset can overtake the bytes.
    await x.sleep(30)
    x.reset()
  }
}

/** The head of the reply in single bytes, `gapMs` apart. */
export function slowHeaders(gapMs: number): Reply {
  return async (x) => {
    const body = JSON.stringify(chatCompletion(isJsonObject(x.call.body) ? x.call.body : {}))
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
    for (const character of head) {
      await x.sleep(gapMs)
      await x.raw(character)
    }
    await x.raw(body)
    x.close()
  }
}

/** A web page with status 200, as a misconfigured proxy sends it. */
export const html: Reply = bytes(
  '<!DOCTYPE html><html><body><h1>It works!</h1></body></html>',
  'text/html',
)

/** A web page with an error status. */
export const htmlError: Reply = bytes(
  '<html><head><title>502 Bad Gateway</title></head><body>internal-host-17</body></html>',
  'text/html',
  502,
)

/** A stream that ends in the middle of an event. */
export const halfEvent: Reply = (x) => {
  const [first = '', second = ''] = streamFrames(x)
  return sse([first, second.slice(0, second.length / 2)])(x)
}

/** A stream, or a buffered reply, with a byte in it that no UTF-8 text has. */
export const invalidUtf8: Reply = (x) => {
  const broken = Buffer.from([0xff])
  if (isStreaming(x)) {
    const [first = '', second = ''] = streamFrames(x)
    const middle = second.length / 2
    return sse([first, second.slice(0, middle), broken, second.slice(middle)])(x)
  }
  return bytes(
    Buffer.concat([Buffer.from('{"id":"'), broken, Buffer.from('"}')]),
    'application/json',
  )(x)
}

/** A stream whose second event is not JSON. */
export const malformedEvent: Reply = (x) =>
  sse([streamFrames(x)[0] ?? '', 'data: {"choices": [oops\n\n'])(x)

/** A stream that breaks off with an error event. */
export const inBandError: Reply = (x) =>
  sse([
    streamFrames(x)[0] ?? '',
    'data: {"error":{"message":"The model is overloaded","type":"server_error","code":"overloaded"}}\n\n',
  ])(x)

/** A stream request answered with one JSON document. */
export const jsonInsteadOfStream: Reply = (x) =>
  json(chatCompletion(isJsonObject(x.call.body) ? x.call.body : {}))(x)

/** A believable stream without its `[DONE]`. */
export const missingDone: Reply = (x) =>
  sse(streamFrames(x).filter((piece) => !piece.includes('[DONE]')))(x)

/** A redirect to another host; following it would be a fault. */
export const redirect: Reply = (x) =>
  x.respond(302, { location: 'http://elsewhere.invalid/v1/chat/completions' }, '')

/** A reply of at least this many bytes, buffered or streamed as it was asked for. */
export function huge(size: number): Reply {
  return believable({
    pieces: Array.from({ length: Math.ceil(size / 65_536) }, () => 'x'.repeat(65_536)),
  })
}

function isStreaming(x: Exchange): boolean {
  return isJsonObject(x.call.body) && x.call.body.stream === true
}

function streamFrames(x: Exchange): string[] {
  const request: JsonObject = isJsonObject(x.call.body) ? x.call.body : {}
  return x.call.path.endsWith('/responses') ? responseFrames(request) : chatFrames(request)
}

function* cut(
  frames: Iterable<string | Uint8Array>,
  pieceBytes: number | undefined,
): Generator<string | Uint8Array> {
  if (pieceBytes === undefined) {
    yield* frames
    return
  }
  const all = Buffer.concat(
    [...frames].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  )
  for (let at = 0; at < all.length; at += pieceBytes) yield all.subarray(at, at + pieceBytes)
}
