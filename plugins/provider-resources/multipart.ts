import { open } from 'node:fs/promises'
import { GatewayError, inTime } from 'model-gateway/plugin'
import { invalid } from 'model-gateway/wire'

/** A form whose one file is on the disk, as part of the form that is to be sent on. */
export interface SpooledForm {
  /** Fields in their order. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Bytes of the form before the content of the file, and of the content. */
  readonly fileFrom: number
  readonly fileSize: number
}

const MAX_HEAD_BYTES = 16 * 1024
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 64
/** A caller that sends nothing for so long is gone. */
const SILENCE_MS = 30_000

const CRLF = '\r\n'

/**
 * Writes the file of a multipart form to the disk as it comes, behind the head of a part of the form with
 * this boundary, and reads the other fields. Throws GatewayError for what is not such a form, is larger than
 * `maxBytes`, or stops coming.
 */
export async function spoolForm(
  request: Request,
  to: string,
  boundary: string,
  maxBytes: number,
): Promise<SpooledForm> {
  const theirs = boundaryOf(request.headers.get('content-type'))
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) throw invalid('the form is empty')
  const reader = readerOf(request.body, theirs, maxBytes)
  const fields: [string, string][] = []
  let spooled: Pick<SpooledForm, 'fileFrom' | 'fileSize'> | undefined
  await reader.skip()
  while (await reader.hasPart()) {
    const head = await reader.head()
    const { name, isFile } = dispositionOf(head)
    if (!isFile) {
      if (fields.length === MAX_FIELDS) throw invalid(`the form has more than ${MAX_FIELDS} fields`)
      fields.push([name, await reader.text(name)])
      continue
    }
    if (spooled !== undefined) throw invalid('file: the form has more than one file')
    if (name !== 'file') throw invalid(`'${name}' is a file; the file must be in the field 'file'`)
    const file = await open(to, 'w')
    try {
      const opening = `--${boundary}${CRLF}${head}${CRLF}`
      const { bytesWritten: fileFrom } = await file.write(Buffer.from(opening, 'latin1'))
      let fileSize = 0
      for await (const piece of reader.content()) {
        await file.write(piece)
        fileSize += piece.length
      }
      spooled = { fileFrom, fileSize }
    } finally {
      await file.close()
    }
  }
  if (spooled === undefined) throw invalid("file: the form has no file in the field 'file'")
  return { fields, ...spooled }
}

/** The rest of a form behind its file. */
export function formEnd(boundary: string, fields: SpooledForm['fields']): string {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}${CRLF}content-disposition: form-data; name="${quoted(name)}"${CRLF}${CRLF}${value}${CRLF}`,
  )
  return `${CRLF}${parts.join('')}--${boundary}--${CRLF}`
}

/** As browsers write names (WHATWG HTML, multipart/form-data). */
const quoted = (name: string) =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function boundaryOf(contentType: string | null): string {
  const [, plain, inQuotes] = /boundary=(?:([^\s;"]+)|"([^"]+)")/i.exec(contentType ?? '') ?? []
  const boundary = plain ?? inQuotes
  if (boundary !== undefined && /^multipart\/form-data\b/i.test(contentType ?? '')) return boundary
  throw invalid('content-type: must be multipart/form-data with a boundary')
}

function dispositionOf(head: string): { readonly name: string; readonly isFile: boolean } {
  const line = /^content-disposition:[ \t]*(.*)$/im.exec(head)?.[1] ?? ''
  const name = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i.exec(line)
  if (name === null) throw invalid('a part of the form has no name')
  const bytes = Buffer.from(name[1] ?? name[2] ?? '', 'latin1')
  return { name: bytes.toString(), isFile: /;\s*filename\*?=/i.test(line) }
}

function tooLarge(maxBytes: number) {
  return new GatewayError(
    'request_body_too_large',
    `the form is larger than ${maxBytes} bytes (max_file_bytes of builtin:provider-resources)`,
  )
}

/** Takes a form apart as it comes; one part after the other, each read to its end. */
function readerOf(body: ReadableStream<Uint8Array>, theirs: string, maxBytes: number) {
  const delimiter = Buffer.from(`${CRLF}--${theirs}`)
  const source = body.getReader()
  // The first boundary has no line end before it.
  let read: Buffer = Buffer.from(CRLF)
  let size = 0

  async function next(): Promise<Buffer> {
    let piece: Awaited<ReturnType<typeof source.read>> | undefined
    try {
      piece = (await inTime(source.read(), SILENCE_MS))?.value
    } catch (cause) {
      throw new GatewayError('invalid_request', 'the request body broke off', { cause })
    }
    if (piece === undefined) throw invalid(`the request body stopped for ${SILENCE_MS} ms`)
    if (piece.done) throw invalid('the form breaks off: it has no closing boundary')
    size += piece.value.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    const { buffer, byteOffset, byteLength } = piece.value
    return Buffer.from(buffer, byteOffset, byteLength)
  }

  async function more(): Promise<void> {
    read = Buffer.concat([read, await next()])
  }

  async function* content(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = read.indexOf(delimiter)
      if (at !== -1) {
        if (at > 0) yield read.subarray(0, at)
        read = read.subarray(at + delimiter.length)
        return
      }
      const certain = read.length - delimiter.length + 1
      if (certain > 0) {
        yield read.subarray(0, certain)
        read = read.subarray(certain)
      }
      const piece = await next()
      const seam = Buffer.concat([read, piece.subarray(0, delimiter.length - 1)])
      // Not copied where no boundary begins in what is left: a copy of each piece is a lot of memory.
      if (piece.length >= delimiter.length - 1 && !seam.includes(delimiter)) {
        yield read
        read = piece
      } else read = Buffer.concat([read, piece])
    }
  }

  return {
    content,
    /** What is before the first boundary. */
    async skip() {
      for await (const _ of content());
    },
    /** Behind a boundary: whether it begins a part, or closes the form. */
    async hasPart(): Promise<boolean> {
      while (read.length < 2) await more()
      if (read.subarray(0, 2).toString() === '--') return false
      for (let at = read.indexOf(CRLF); ; at = read.indexOf(CRLF)) {
        if (at !== -1) {
          read = read.subarray(at + CRLF.length)
          return true
        }
        if (read.length > MAX_HEAD_BYTES) throw invalid('the form has a boundary that does not end')
        await more()
      }
    },
    /** The headers of a part, each with its line end; a character for each byte. */
    async head(): Promise<string> {
      for (;;) {
        const at = read.indexOf(`${CRLF}${CRLF}`)
        if (at !== -1) {
          const head = read.subarray(0, at + CRLF.length).toString('latin1')
          read = read.subarray(at + 2 * CRLF.length)
          return head
        }
        if (read.length > MAX_HEAD_BYTES) throw invalid('the headers of a part are too long')
        await more()
      }
    },
    async text(name: string): Promise<string> {
      const pieces: Buffer[] = []
      let bytes = 0
      for await (const piece of content()) {
        bytes += piece.length
        if (bytes > MAX_FIELD_BYTES)
          throw invalid(`${name}: is longer than ${MAX_FIELD_BYTES} bytes`)
        pieces.push(Buffer.from(piece))
      }
      return Buffer.concat(pieces).toString()
    },
  }
}
