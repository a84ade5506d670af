/**
 * The module `model-gateway/uploads`, for APIs that receive files and providers that send them on.
 */

import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { HttpCall } from 'model-gateway/http'
import {
  extensionPoint,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  Shape,
  Type,
} from 'model-gateway/plugin'

/** A file in a parsed request, without its bytes. */
export type Upload = {
  readonly name: string
  /** Its media type, as the caller states it. */
  readonly type: string
  readonly bytes: number
  /** Key of the file, valid until the reply was sent. */
  readonly part: string
}

/**
 * Receives forms. Files are streamed to the local disk, are never whole in memory, and are deleted
 * by `release`.
 */
export interface Uploads {
  /**
   * The JSON text of a request that was sent as `multipart/form-data`: fields are strings, or lists
   * if they are repeated or named `name[]`; `stream` is a boolean; files are `Upload`s. Other
   * bodies are returned as text. Applies `server.max_body_bytes` and `body_timeout_ms`. `file` is
   * the required file field. Throws GatewayError.
   */
  receive(call: HttpCall, file: string): Promise<string>
  /** Deletes the files of a call. Called when its reply was sent. */
  release(call: HttpCall): void
}

export const uploads = extensionPoint<Uploads>('uploads', 'one', {
  shape: Type.Object({ receive: Shape.method(), release: Shape.method() }),
})

/** Paths of the files of running requests, by key. */
const places = new Map<string, string>()

/** Registers a file under a new key; `forget` removes it. */
export function keepPlace(path: string): { readonly part: string; forget(): void } {
  const part = randomUUID()
  places.set(part, path)
  return { part, forget: () => void places.delete(part) }
}

/** Whether a member of a request is a file of a running request. */
export function isUpload(value: JsonValue | undefined): value is Upload {
  return isJsonObject(value) && typeof value.part === 'string' && places.has(value.part)
}

/** The bytes of a file, read lazily from the disk. Throws if its request has ended. */
export function uploadedFile({ part }: Upload): Blob {
  const path = places.get(part)
  if (path === undefined) throw new Error('an upload was read after its request ended')
  return Bun.file(path)
}

/** An outgoing form; the content type contains the boundary. */
export interface Form {
  readonly body: Blob
  readonly contentType: string
}

/**
 * Members of a request as `multipart/form-data`, written to a file next to those in it, which is deleted
 * with them. Lists become `name[]`; members that are not texts are JSON. At least one has to be an `Upload`.
 *
 * @example const { body, contentType } = await writeForm({ ...call.body, model: upstreamModel })
 */
export async function writeForm(members: Readonly<JsonObject>): Promise<Form> {
  const boundary = `gateway-${randomUUID()}`
  const parts: (readonly [name: string, value: JsonValue])[] = []
  for (const [name, value] of Object.entries(members)) {
    if (Array.isArray(value)) parts.push(...value.map((each) => [`${name}[]`, each] as const))
    else if (value !== undefined && value !== null) parts.push([name, value])
  }
  const first = parts.map(([, value]) => value).find(isUpload)
  const folder = dirname(places.get(first?.part ?? '') ?? '')
  if (first === undefined) throw new Error('the form has no file')
  const file = Bun.file(join(folder, boundary))
  const sink = file.writer()
  for (const [name, value] of parts) {
    const filename = isUpload(value) ? `; filename="${quoted(value.name)}"` : ''
    const type = isUpload(value) ? `content-type: ${value.type}\r\n` : ''
    sink.write(
      `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${filename}\r\n${type}\r\n`,
    )
    if (isUpload(value)) {
      for await (const piece of uploadedFile(value).stream()) {
        sink.write(piece)
        await sink.flush()
      }
    } else sink.write(typeof value === 'string' ? value : JSON.stringify(value))
    sink.write('\r\n')
  }
  sink.write(`--${boundary}--\r\n`)
  await sink.end()
  return { body: file, contentType: `multipart/form-data; boundary=${boundary}` }
}

/** https://html.spec.whatwg.org/#multipart-form-data */
function quoted(name: string): string {
  return name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
}
