import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { invalid } from 'model-gateway/wire'
import { type FormLimits, readForm } from '../_shared/form-reader.ts'

/** A form whose file is on the disk, inside the part of the form that is sent on. */
export interface SpooledForm {
  /** Fields in order. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Offset of the file's content in the form, and its size. */
  readonly fileFrom: number
  readonly fileSize: number
}

const LIMITS: Omit<FormLimits, 'maxBytes'> = {
  setting: 'max_file_bytes of builtin:provider-resources',
  fieldBytes: 64 * 1024,
  fields: 64,
  files: 1,
  // Time limit without data, after which the caller counts as gone.
  silenceMs: 30_000,
}

const CRLF = '\r\n'

/**
 * Streams the file of a multipart form to the disk, after the header of a part with this boundary,
 * and reads the other fields. Throws GatewayError if the form is invalid, larger than `maxBytes`,
 * or stalls.
 */
export async function spoolForm(
  request: Request,
  to: string,
  boundary: string,
  maxBytes: number,
): Promise<SpooledForm> {
  const fields: [string, string][] = []
  let spooled: Pick<SpooledForm, 'fileFrom' | 'fileSize'> | undefined
  const given = new AbortController()
  try {
    await readForm(
      request,
      { ...LIMITS, maxBytes },
      {
        field: (name, value) => void fields.push([name, value]),
        async file(name, source, filename, type) {
          if (name !== 'file')
            throw invalid(`'${name}' contains a file, but the file must be in the field 'file'`)
          const head = Buffer.from(
            `--${boundary}${CRLF}content-disposition: form-data; name="file"; filename="${quoted(filename)}"${CRLF}content-type: ${type}${CRLF}${CRLF}`,
          )
          const file = createWriteStream(to)
          file.write(head)
          await pipeline(source, file, { signal: given.signal })
          spooled = { fileFrom: head.length, fileSize: file.bytesWritten - head.length }
        },
      },
      given.signal,
    )
  } catch (error) {
    given.abort()
    throw error
  }
  if (spooled === undefined) throw invalid("file: the form has no file in the field 'file'")
  return { fields, ...(spooled as Pick<SpooledForm, 'fileFrom' | 'fileSize'>) }
}

/** The rest of the form after its file. */
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
