import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { invalid } from 'model-gateway/wire'
import { type FormLimits, readForm } from '../_shared/form-reader.ts'

/** A form whose one file is on the disk, as part of the form that is to be sent on. */
export interface SpooledForm {
  /** Fields in their order. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Bytes of the form before the content of the file, and of the content. */
  readonly fileFrom: number
  readonly fileSize: number
}

const LIMITS: Omit<FormLimits, 'maxBytes'> = {
  setting: 'max_file_bytes of builtin:provider-resources',
  fieldBytes: 64 * 1024,
  fields: 64,
  files: 1,
  // A caller that sends nothing for so long is gone.
  silenceMs: 30_000,
}

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
