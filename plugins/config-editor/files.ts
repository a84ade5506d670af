import { randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { parse } from 'yaml'

/** The advice if the file is not writable. */
export const COPY = 'copy the YAML into the source of your config'

const READABLE_BY_ALL = 0o644
const OWNERS_ONLY = 0o600

/** The folder for pasted secrets: `gateway.managed.keys` next to `gateway.managed.yaml`. */
function keyFolderOf(file: string): string {
  return `${file.replace(/\.[^./]*$/, '')}.keys`
}

/** Why the managed file is not writable; undefined if it is. */
export function writeFault(file: string): string | undefined {
  try {
    // Check the folder, because the file is replaced by a rename.
    accessSync(dirname(file), constants.W_OK)
    return undefined
  } catch (error) {
    return `the folder ${dirname(file)} is not writable (${codeOf(error)})`
  }
}

/**
 * Replaces the content of a file atomically; undefined removes the file. Throws `conflict`, with
 * the details.
 */
export function replaceFile(
  file: string,
  text: string | undefined,
  details: JsonObject = {},
): void {
  const draft = `${file}.${randomUUID()}.new`
  try {
    if (text === undefined) {
      rmSync(file, { force: true })
      return
    }
    const mode = existsSync(file) ? statSync(file).mode & 0o777 : READABLE_BY_ALL
    writeFileSync(draft, text, { mode, flush: true })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw unwritable(file, error, details)
  }
}

/** An unused path for a new key of a provider. */
export function freeKeyPath(file: string, provider: string): string {
  const name = provider.replaceAll(/[^\w.-]+/g, '-').replace(/^\.+/, '') || 'key'
  for (let n = 1; ; n++) {
    const path = join(keyFolderOf(file), n === 1 ? `${name}.key` : `${name}-${n}.key`)
    if (!existsSync(path)) return path
  }
}

/** Whether a path is a key file of this managed file. */
export function isKeyPath(file: string, path: string): boolean {
  return dirname(path) === keyFolderOf(file) && path.endsWith('.key')
}

/** Writes a secret that only the gateway's account can read. Throws `conflict`. */
export function storeKey(path: string, secret: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, secret, { mode: OWNERS_ONLY, flag: 'wx', flush: true })
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Removes the stored keys that none of these texts refers to. */
export function removeKeys(file: string, texts: readonly (string | undefined)[]): void {
  const folder = keyFolderOf(file)
  if (!existsSync(folder)) return
  const used = new Set(texts.flatMap((text) => stringsIn(parse(text ?? ''))))
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.key') && !used.has(`file.${path}`)) rmSync(path)
  }
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

function unwritable(path: string, error: unknown, details: JsonObject = {}): GatewayError {
  const message = `${path} cannot be written (${codeOf(error)}): ${COPY}`
  return new GatewayError('conflict', message, { cause: error, details })
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? error)
}
