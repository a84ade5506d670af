import { createHash } from 'node:crypto'
import type { JsonValue } from 'model-gateway/plugin'

/** Deeper than any schema that somebody means. */
const MOST_LEVELS = 200

/**
 * The canonical text of a JSON value, as RFC 8785 has it: members by their names' UTF-16 units, no
 * space, numbers and strings as ECMAScript writes them. Throws for a lone surrogate, which has no
 * canonical form, and for a value that is nested too deeply.
 */
export function canonicalJson(value: JsonValue, levels = MOST_LEVELS): string {
  if (levels === 0) throw new Error('nested too deeply')
  if (typeof value === 'string') return quoted(value)
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
  if (!text.isWellFormed()) throw new Error('holds half a surrogate pair')
  return JSON.stringify(text)
}

/** `sha256:` and the digest of a canonical text, in hexadecimal digits. */
export function hashOf(canonical: string): string {
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}
