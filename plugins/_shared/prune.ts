import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { followPaths, type PathNode } from './redaction-paths.ts'
import { REDACTED, redactText } from './secret-text.ts'
import { isSecretMember, nameKind } from './sensitive-names.ts'

/** Maximum nesting; deeper values are dropped. Real values of models and tools are less deep. */
const MOST_LEVELS = 100
/** A truncated text is searched this far beyond the cut, because a secret may cross it. */
const BEYOND_CUT = 1_024
/** Maximum length of a kept base64 text. */
const BULKY_CHARS = 256
/** Number of characters that are tested for base64. */
const SAMPLE_CHARS = 1_024

/** Members in which providers put images, audio, files, vectors and encrypted reasoning. */
const bulkyKeys: ReadonlySet<string> = new Set([
  'audio',
  'b64_json',
  'bytes',
  'data',
  'delta',
  'embedding',
  'encrypted_content',
  'file_data',
  'fileData',
  'image_url',
  'partial_image_b64',
  'result',
  'url',
])

export interface Pruned {
  /** The value to keep; the same value if nothing was removed. */
  readonly value: JsonValue
  /** Truncated: it had more bytes than the limit. */
  readonly over: boolean
  /** A value was nested too deeply. */
  readonly tooDeep: boolean
}

/**
 * A wrapped payload without secrets and bulky fields, in one pass that stops after `bytes`.
 * Sensitive values become `"[redacted]"`, bulky ones `{"truncated":true,"size_bytes":n}`. The
 * payload itself is not modified.
 */
export function prune(wrapped: JsonObject, paths: PathNode | undefined, bytes: number): Pruned {
  const pass: Pass = { left: bytes, over: false, tooDeep: false }
  const value = pruneObject(wrapped, pass, paths && [paths], 0)
  return { value, over: pass.over, tooDeep: pass.tooDeep }
}

interface Pass {
  /** Upper bound of the remaining size. */
  left: number
  over: boolean
  tooDeep: boolean
}

type Nodes = readonly PathNode[] | undefined

function take(pass: Pass, atLeast: number): void {
  pass.left -= atLeast
  if (pass.left < 0) pass.over = true
}

function pruneValue(
  value: JsonValue,
  pass: Pass,
  nodes: Nodes,
  level: number,
  bulky: boolean,
): JsonValue {
  if (typeof value === 'string') return pruneText(value, pass, bulky)
  if (typeof value !== 'object' || value === null) {
    take(pass, String(value).length)
    return value
  }
  if (level > MOST_LEVELS) {
    pass.tooDeep = true
    return { truncated: true }
  }
  return Array.isArray(value)
    ? pruneArray(value, pass, nodes, level)
    : pruneObject(value, pass, nodes, level)
}

function pruneObject(object: JsonObject, pass: Pass, nodes: Nodes, level: number): JsonObject {
  take(pass, 2)
  let copy: JsonObject | undefined
  for (const key in object) {
    const value = object[key]
    if (value === undefined) continue
    take(pass, key.length + 3)
    const kind = kindOf(key)
    const next = nodes && followPaths(nodes, key)
    const isSecret = kind !== 'plain' && isSecretMember(key, value)
    const kept =
      isSecret || ends(next)
        ? redacted(value, pass)
        : pruneValue(value, pass, next, level + 1, kind === 'bulky')
    const keptKey = kind === 'tainted' ? redactText(key) : key
    if (copy === undefined && (kept !== value || keptKey !== key || pass.over)) {
      copy = membersBefore(object, key)
    }
    if (copy !== undefined) setMember(copy, keptKey, kept)
    if (pass.over) break
  }
  return copy ?? object
}

function pruneArray(array: JsonValue[], pass: Pass, nodes: Nodes, level: number): JsonValue[] {
  take(pass, 2)
  let copy: JsonValue[] | undefined
  for (let i = 0; i < array.length; i++) {
    const value = array[i] as JsonValue
    const next = nodes && followPaths(nodes, String(i))
    const kept = ends(next)
      ? redacted(value, pass)
      : pruneValue(value, pass, next, level + 1, false)
    if (copy === undefined && (kept !== value || pass.over)) copy = array.slice(0, i)
    copy?.push(kept)
    if (pass.over) break
  }
  return copy ?? array
}

function pruneText(text: string, pass: Pass, bulky: boolean): JsonValue {
  if (isBulky(text, bulky)) {
    take(pass, 34)
    return { truncated: true, size_bytes: Buffer.byteLength(text) }
  }
  const isCut = text.length > pass.left
  const kept = redactText(isCut ? text.slice(0, Math.max(pass.left, 0) + BEYOND_CUT) : text)
  take(pass, kept.length + 2)
  if (isCut) pass.over = true
  return kept
}

function isBulky(text: string, inBulkyMember: boolean): boolean {
  if (text.startsWith('data:')) {
    return inBulkyMember || text.slice(0, BULKY_CHARS).includes(';base64,')
  }
  if (!inBulkyMember || text.length <= BULKY_CHARS) return false
  return isBase64(text.slice(0, SAMPLE_CHARS)) && isBase64(text.slice(-SAMPLE_CHARS))
}

/** In either alphabet, with or without line breaks. */
function isBase64(text: string): boolean {
  return /^[\w+/=\r\n-]*$/.test(text)
}

function redacted(value: JsonValue, pass: Pass): JsonValue {
  take(pass, 4)
  return value === null ? null : REDACTED
}

function ends(nodes: Nodes): boolean {
  return nodes?.some((node) => node.ends) ?? false
}

/** A tainted key contains a secret. */
type KeyKind = 'plain' | 'sensitive' | 'bulky' | 'tainted'

/** Cached, because nearly all keys repeat. */
const kinds = new Map<string, KeyKind>()
const MOST_KINDS = 4_096
const LONGEST_NAME = 64

function kindOf(key: string): KeyKind {
  const known = kinds.get(key)
  if (known !== undefined) return known
  const kind = bulkyKeys.has(key)
    ? 'bulky'
    : redactText(key) !== key
      ? 'tainted'
      : nameKind(key) === 'plain'
        ? 'plain'
        : 'sensitive'
  if (key.length <= LONGEST_NAME) {
    if (kinds.size === MOST_KINDS) kinds.clear()
    kinds.set(key, kind)
  }
  return kind
}

function membersBefore(object: JsonObject, end: string): JsonObject {
  const copy: JsonObject = {}
  for (const key in object) {
    if (key === end) break
    const value = object[key]
    if (value !== undefined) setMember(copy, key, value)
  }
  return copy
}

function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value
  else {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
}
