import { createHash } from 'node:crypto'
import type { JsonValue } from 'model-gateway/plugin'

/** Deeper than any real schema. */
const MOST_LEVELS = 200

/** Why a value has no canonical form; the message contains nothing of the value. */
export class NoCanonicalForm extends Error {
  override readonly name = 'NoCanonicalForm'
}

/**
 * The canonical text of a JSON value, as RFC 8785 has it: members by their names' UTF-16 units, no
 * space, numbers and strings as ECMAScript writes them. Throws NoCanonicalForm for a lone surrogate,
 * for a number that no double holds, and for a value that is nested too deeply.
 */
export function canonicalJson(value: JsonValue, levels = MOST_LEVELS): string {
  if (levels === 0) throw new NoCanonicalForm('is nested too deeply')
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new NoCanonicalForm('contains a number that is out of range')
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item, levels - 1)).join()}]`
  }
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${quoted(name)}:${canonicalJson(value[name] as JsonValue, levels - 1)}`)
  return `{${members.join()}}`
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new NoCanonicalForm('contains half of a surrogate pair')
  return JSON.stringify(text)
}

/** `sha256:` and the digest of a canonical text, in hexadecimal digits. */
export function hashOf(canonical: string): string {
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}
