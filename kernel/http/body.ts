import { GatewayError, inTime } from '../plugin/index.ts'

export interface BodyLimits {
  readonly maxBytes: number
  /** Milliseconds for the whole body to arrive. */
  readonly timeoutMs: number
}

/**
 * The whole request body as text. Throws `request_body_too_large`, or `invalid_request` when it is
 * compressed, not UTF-8, breaks off, or has not arrived in time.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limits.maxBytes) throw tooLarge(limits)
  const reading = declared === null ? readCounted(request, limits) : request.bytes()
  try {
    const read = await inTime(reading, limits.timeoutMs)
    if (read === undefined) throw tooLate(limits)
    return decode(read.value, request)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_request', 'the request body broke off', { cause: error })
  }
}

/** For bodies of unknown length: stops reading as soon as there is too much. */
async function readCounted(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  // Not `for await`: to leave it waits for a cancellation that need not end.
  const reader = request.body.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.byteLength
    if (size > limits.maxBytes) throw tooLarge(limits)
    chunks.push(piece.value)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array, { headers }: Request): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const message = isCompressed(headers.get('content-encoding'))
      ? 'content-encoding: the request body must not be compressed'
      : 'the request body is not valid UTF-8'
    throw new GatewayError('invalid_request', message, { cause })
  }
}

function isCompressed(encoding: string | null): boolean {
  return encoding !== null && encoding.toLowerCase() !== 'identity'
}

/**
 * The connection stays open: many clients read only when all is sent, and one that is closed before
 * takes the answer with it. What still comes is thrown away.
 */
function tooLarge({ maxBytes }: BodyLimits) {
  return new GatewayError(
    'request_body_too_large',
    `the request body is larger than ${maxBytes} bytes`,
  )
}

function tooLate({ timeoutMs }: BodyLimits) {
  return new GatewayError(
    'invalid_request',
    `the request body did not arrive within ${timeoutMs} ms`,
    { headers: { connection: 'close' } },
  )
}
