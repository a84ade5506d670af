import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { GatewayError, inTime } from 'model-gateway/plugin'

export interface FormLimits {
  /** Limit of the whole form. */
  readonly maxBytes: number
  /** The setting with this limit, for the error message. */
  readonly setting: string
  readonly fieldBytes: number
  readonly fields: number
  readonly files: number
  /**
   * Maximum time between two chunks of the form, in milliseconds. Absent: the caller limits the
   * time.
   */
  readonly silenceMs?: number
}

/** Handlers of a form's parts, as they arrive. */
export interface FormParts {
  /** Throws GatewayError for an invalid part. */
  field(name: string, value: string): void
  /** Must start reading at once. Resolves when the file is stored. */
  file(name: string, source: Readable, filename: string, type: string): Promise<void>
}

type Parser = InstanceType<typeof Busboy>

/**
 * Reads a multipart form, at the pace of its handlers. Resolves when all parts are handled. Throws
 * GatewayError for an invalid form, one above the limits, or one that stalls. `givenUp` aborts; the
 * rest is discarded.
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
      // Otherwise the parser waits until the file is read.
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

/**
 * Promises here live for one chunk only, because a race with a long-lived one would keep all chunks
 * in memory.
 */
async function feed(
  { body }: Request,
  parser: Parser,
  limits: FormLimits,
  givenUp: AbortSignal,
): Promise<void> {
  // Not `for await`, because leaving it waits for a cancellation that may never finish.
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
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'> | undefined,
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

/**
 * Keeps the connection open, as for all bodies, because many clients read only after sending
 * everything.
 */
function tooLarge({ maxBytes, setting }: FormLimits): GatewayError {
  return new GatewayError(
    'request_body_too_large',
    `the request body is larger than ${maxBytes} bytes (${setting})`,
  )
}

function invalid(message: string, options?: { readonly cause: unknown }): GatewayError {
  return new GatewayError('invalid_request', message, options)
}
