import { createWriteStream, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HttpCall } from 'model-gateway/http'
import { GatewayError, inTime, type JsonValue } from 'model-gateway/plugin'
import { invalid } from 'model-gateway/wire'
import { type FormLimits, readForm } from '../_shared/form-reader.ts'
import { keepPlace, type Upload, type Uploads } from './contract.ts'

const LIMITS: Omit<FormLimits, 'maxBytes'> = {
  setting: 'server.max_body_bytes',
  // Prompts are the longest fields.
  fieldBytes: 1_048_576,
  fields: 200,
  // OpenAI accepts 16 images and a mask.
  files: 32,
}

export interface UploadLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Receives forms into folders below `directory`, one for each request. */
export function createUploads(directory: string, limits: UploadLimits): Uploads {
  const kept = new WeakMap<HttpCall, () => void>()
  return {
    async receive(call, file) {
      if (!isForm(call)) return await call.text()
      refuseEncoding(call)
      const form = openForm(join(directory, crypto.randomUUID()))
      kept.set(call, form.release)
      const { maxBytes } = limits
      const read = readForm(call.request, { ...LIMITS, maxBytes }, form, form.signal).catch(
        (error) => {
          form.stop()
          throw error
        },
      )
      if ((await inTime(read, limits.timeoutMs)) === undefined) {
        form.stop()
        read.catch(() => {})
        const message = `the request body did not arrive within ${limits.timeoutMs} ms`
        throw new GatewayError('invalid_request', message, { headers: { connection: 'close' } })
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
  const message =
    'content-encoding: encoded forms are not supported; send the form without content-encoding'
  throw new GatewayError('invalid_request', message, { status: 415 })
}

/** A form while it is being received. */
function openForm(folder: string) {
  const entries: [name: string, value: JsonValue][] = []
  const forgotten: (() => void)[] = []
  const aborted = new AbortController()
  const names = new Set<string>()
  let isMade = false
  return {
    /** Fields that hold a file. */
    names,
    signal: aborted.signal,
    field: (name: string, value: string) => void entries.push([name, value]),
    stop: () => aborted.abort(),
    /** Streams the file of a part to the disk. */
    async file(stated: string, source: Readable, filename: string, type: string): Promise<void> {
      names.add(stated.replace(/\[\d*\]$/, ''))
      // Synchronous, because the parser may fail the file before an awaited call listens to it.
      if (!isMade) mkdirSync(folder, { recursive: true, mode: 0o700 })
      isMade = true
      const path = join(folder, crypto.randomUUID())
      const { part, forget } = keepPlace(path)
      forgotten.push(forget)
      const upload: Upload = { name: filename, type, bytes: 0, part }
      const entry: [string, Upload] = [stated, upload]
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

/** Other values are refused by the reader of the request. */
function asBoolean(value: JsonValue): JsonValue {
  return value === 'true' || value === 'True' || value === '1'
    ? true
    : value === 'false' || value === 'False' || value === '0'
      ? false
      : value
}
