import { createWriteStream, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { HttpCall } from 'model-gateway/http'
import { GatewayError, inTime, type JsonValue } from 'model-gateway/plugin'
import { keepPlace, type Upload, type Uploads } from './contract.ts'

/** Fields beside files: prompts are the longest. */
const FIELD_BYTES = 1_048_576
const MOST_FIELDS = 200
/** OpenAI takes 16 pictures and a mask. */
const MOST_FILES = 32

export interface UploadLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Takes forms into folders below `directory`, one for each request. */
export function createUploads(directory: string, limits: UploadLimits): Uploads {
  const kept = new WeakMap<HttpCall, () => void>()
  return {
    async receive(call, file) {
      if (!isForm(call)) return await call.text()
      refuseEncoding(call)
      const form = openForm(join(directory, crypto.randomUUID()))
      kept.set(call, form.release)
      const read = readForm(call.request, form, limits)
      if ((await inTime(read, limits.timeoutMs)) === undefined) {
        form.stop()
        read.catch(() => {})
        throw invalid(`the request body did not arrive within ${limits.timeoutMs} ms`, {
          headers: { connection: 'close' },
        })
      }
      call.keepOpen()
      if (!form.names.has(file)) {
        throw invalid(`multipart with no file: field \`${file}\` is missing`)
      }
      return JSON.stringify(form.members())
    },
    release(call) {
      kept.get(call)?.()
      kept.delete(call)
    },
  }
}

function isForm({ header }: HttpCall): boolean {
  return /^multipart\/form-data\b/i.test(header('content-type')?.trim() ?? '')
}

function refuseEncoding({ header }: HttpCall): void {
  const encoding = header('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw invalid('content-encoding: forms are not unpacked here; send them as they are', {
    status: 415,
  })
}

type Parser = InstanceType<typeof Busboy>
type OpenForm = ReturnType<typeof openForm>

/** A form as far as it has come. */
function openForm(folder: string) {
  const entries: [name: string, value: JsonValue][] = []
  const forgotten: (() => void)[] = []
  const aborted = new AbortController()
  let isMade = false
  return {
    /** Fields that hold a file. */
    names: new Set<string>(),
    signal: aborted.signal,
    add: (name: string, value: JsonValue) => void entries.push([name, value]),
    stop: () => aborted.abort(),
    /** The file of a part, written as it comes. */
    async write(name: string, source: Readable, filename: string, type: string): Promise<void> {
      // At once: the parser may fail the file before anything that is awaited listens to it.
      if (!isMade) mkdirSync(folder, { recursive: true, mode: 0o700 })
      isMade = true
      const path = join(folder, crypto.randomUUID())
      const { part, forget } = keepPlace(path)
      forgotten.push(forget)
      const upload: Upload = { name: filename, type, bytes: 0, part }
      const entry: [string, Upload] = [name, upload]
      entries.push(entry)
      let bytes = 0
      source.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      await pipeline(source, createWriteStream(path, { mode: 0o600 }), { signal: aborted.signal })
      entry[1] = { ...upload, bytes }
    },
    members(): Record<string, JsonValue> {
      const members: Record<string, JsonValue[]> = {}
      const lists = new Set<string>()
      for (const [stated, value] of entries) {
        const name = stated.replace(/\[\d*\]$/, '')
        if (name !== stated) lists.add(name)
        const values = Object.hasOwn(members, name) ? (members[name] ?? []) : []
        members[name] = [...values, name === 'stream' ? asBoolean(value) : value]
      }
      const whole = Object.entries(members).map(([name, values]) => [
        name,
        lists.has(name) || values.length > 1 ? values : (values[0] ?? null),
      ])
      return Object.fromEntries(whole)
    },
    release() {
      aborted.abort()
      for (const forget of forgotten) forget()
      if (isMade) void rm(folder, { recursive: true, force: true }).catch(() => {})
    },
  }
}

/** Anything else is refused where it is read. */
function asBoolean(value: JsonValue): JsonValue {
  return value === 'true' || value === 'True' || value === '1'
    ? true
    : value === 'false' || value === 'False' || value === '0'
      ? false
      : value
}

/** Resolves when all files are on the disk. */
async function readForm(request: Request, form: OpenForm, limits: UploadLimits): Promise<void> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits.maxBytes) throw tooLarge(limits)
  const parser = parserOf(request)
  const written: Promise<void>[] = []
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const fail = (error: unknown) => failed.reject(error)
  const closed = new Promise<void>((resolve) => parser.on('finish', resolve))
  parser.on('field', (name, value, _isNameCut, isCut) => {
    if (isCut) fail(invalid(`${name}: a field may have ${FIELD_BYTES} bytes`))
    form.add(name, value)
  })
  parser.on('file', (name, source, filename, _encoding, type) => {
    form.names.add(name.replace(/\[\d*\]$/, ''))
    const writing = form.write(name, source, filename || name, type)
    writing.catch(fail)
    written.push(writing)
  })
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(event, () =>
      fail(invalid(`a form may have ${MOST_FILES} files and ${MOST_FIELDS} fields`)),
    )
  }
  parser.on('error', (cause) =>
    fail(invalid(`the form cannot be read: ${(cause as Error).message}`)),
  )
  form.signal.addEventListener('abort', () =>
    fail(invalid('the request body was not read to its end')),
  )
  try {
    await Promise.race([feed(request, parser, limits, form.signal), failed.promise])
    await Promise.race([closed, failed.promise])
    await Promise.race([Promise.all(written), failed.promise])
  } catch (error) {
    parser.destroy()
    form.stop()
    throw error
  }
}

/**
 * Gives the parser no more than it has written to the disk. Ends early when the form is given up: what still
 * comes is thrown away. No promise here lives longer than a piece: a race with one keeps all pieces in memory.
 */
async function feed(
  { body }: Request,
  parser: Parser,
  limits: UploadLimits,
  givenUp: AbortSignal,
): Promise<void> {
  // Not `for await`: to leave it waits for a cancellation that need not end.
  const reader = body?.getReader()
  let size = 0
  try {
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
      size += piece.value.byteLength
      if (size > limits.maxBytes) throw tooLarge(limits)
      if (givenUp.aborted) return
      if (!parser.write(piece.value)) {
        await new Promise<void>((resolve) => parser.once('drain', resolve))
      }
    }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw invalid('the request body broke off', { cause: error })
  }
  parser.end()
}

function parserOf({ headers }: Request): Parser {
  try {
    return new Busboy({
      headers: headers.toJSON() as unknown as BusboyHeaders,
      limits: { fieldSize: FIELD_BYTES, fields: MOST_FIELDS, files: MOST_FILES },
    })
  } catch (error) {
    throw invalid(`content-type: ${(error as Error).message}`, { cause: error })
  }
}

/** The connection stays open, as for all bodies: many clients read only when all is sent. */
function tooLarge({ maxBytes }: UploadLimits): GatewayError {
  return new GatewayError(
    'request_body_too_large',
    `the request body is larger than ${maxBytes} bytes (server.max_body_bytes)`,
  )
}

function invalid(
  message: string,
  options?: ConstructorParameters<typeof GatewayError>[2],
): GatewayError {
  return new GatewayError('invalid_request', message, options)
}
