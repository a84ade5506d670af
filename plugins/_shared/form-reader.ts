import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { GatewayError, inTime } from 'model-gateway/plugin'

export interface FormLimits {
  /** Of the whole form. */
  readonly maxBytes: number
  /** The setting that says so. */
  readonly setting: string
  readonly fieldBytes: number
  readonly fields: number
  readonly files: number
  /** Longest time between two pieces of the form, in milliseconds. Absent: the caller keeps the time. */
  readonly silenceMs?: number
}

/** What becomes of the parts of a form, as they come. */
export interface FormParts {
  /** Throws GatewayError for one that cannot be. */
  field(name: string, value: string): void
  /** Begins to read at once. Resolves when the file is where it belongs. */
  file(name: string, source: Readable, filename: string, type: string): Promise<void>
}

type Parser = InstanceType<typeof Busboy>

/**
 * Reads a multipart form, never more of it than its parts have taken. Resolves when all of them are there.
 * Throws GatewayError for what is not a form, is larger than the limits, or does not come. `givenUp` ends it:
 * what still comes is thrown away.
 */
export async function readForm(
  request: Request,
  limits: FormLimits,
  parts: FormParts,
  givenUp: AbortSignal,
): Promise<void> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits.maxBytes) throw tooLarge(limits)
  const parser = parserOf(request, limits)
  const written: Promise<void>[] = []
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const fail = (error: unknown) => failed.reject(error)
  const closed = new Promise<void>((resolve) => parser.on('finish', resolve))
  parser.on('field', (name, value, _isNameCut, isCut) => {
    if (isCut) return fail(invalid(`${name}: a field may have ${limits.fieldBytes} bytes`))
    try {
      parts.field(name, value)
    } catch (error) {
      fail(error)
    }
  })
  parser.on('file', (name, source, filename, _encoding, type) => {
    const writing = parts.file(name, source, filename || name, type)
    writing.catch((error) => {
      // Else the parser waits until it is read.
      source.resume()
      fail(error)
    })
    written.push(writing)
  })
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(event, () =>
      fail(invalid(`a form has at most ${filesOf(limits)} and ${limits.fields} fields`)),
    )
  }
  parser.on('error', (cause) =>
    fail(invalid(`the form cannot be read: ${(cause as Error).message}`)),
  )
  const endEarly = () => fail(invalid('the request body was not read to the end'))
  givenUp.addEventListener('abort', endEarly)
  try {
    await Promise.race([feed(request, parser, limits, givenUp), failed.promise])
    await Promise.race([closed, failed.promise])
    await Promise.race([Promise.all(written), failed.promise])
  } catch (error) {
    parser.destroy()
    throw error
  } finally {
    givenUp.removeEventListener('abort', endEarly)
  }
}

const filesOf = ({ files }: FormLimits) => (files === 1 ? '1 file' : `${files} files`)

/** No promise here lives longer than a piece: a race with one keeps all pieces in memory. */
async function feed(
  { body }: Request,
  parser: Parser,
  limits: FormLimits,
  givenUp: AbortSignal,
): Promise<void> {
  // Not `for await`: to leave it waits for a cancellation that need not end.
  const reader = body?.getReader()
  let size = 0
  try {
    for (;;) {
      const piece = await nextPiece(reader, limits)
      if (piece === undefined) break
      size += piece.byteLength
      if (size > limits.maxBytes) throw tooLarge(limits)
      if (givenUp.aborted) return
      if (!parser.write(piece)) {
        await new Promise<void>((resolve) => parser.once('drain', resolve))
      }
    }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw invalid('the request body ended early', { cause: error })
  }
  parser.end()
}

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  { silenceMs }: FormLimits,
): Promise<Uint8Array | undefined> {
  const reading = reader?.read()
  if (reading === undefined || silenceMs === undefined) return (await reading)?.value
  const read = await inTime(reading, silenceMs)
  if (read === undefined) throw invalid(`the request body stopped for ${silenceMs} ms`)
  return read.value.value
}

function parserOf({ headers }: Request, limits: FormLimits): Parser {
  if (!/^multipart\/form-data\b/i.test(headers.get('content-type')?.trim() ?? ''))
    throw invalid('content-type: must be multipart/form-data with a boundary')
  try {
    return new Busboy({
      headers: headers.toJSON() as unknown as BusboyHeaders,
      limits: { fieldSize: limits.fieldBytes, fields: limits.fields, files: limits.files },
    })
  } catch (cause) {
    throw invalid(`content-type: ${(cause as Error).message}`, { cause })
  }
}

/** The connection stays open, as for all bodies: many clients read only when all is sent. */
function tooLarge({ maxBytes, setting }: FormLimits): GatewayError {
  return new GatewayError(
    'request_body_too_large',
    `the request body is larger than ${maxBytes} bytes (${setting})`,
  )
}

function invalid(message: string, options?: { readonly cause: unknown }): GatewayError {
  return new GatewayError('invalid_request', message, options)
}
