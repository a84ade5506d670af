import { isSensitiveParameter, sensitiveKeyPattern } from './sensitive-names.ts'

export const REDACTED = '[redacted]'

/** A part of a text that must not be kept, and what stands there instead. */
export interface Cut {
  readonly start: number
  readonly end: number
  readonly instead: string
}

// Each text of each payload comes by here, and nearly all of them hold nothing: the first look is
// with patterns that the engine finds fast. Repetitions are bounded where a failed match would be
// tried again from inside itself, so that no text takes more than linear time.

const SHORTEST = 6
const HINT = /gwk_|sk-|AIza|A[KS]IA|ya29\.|-----BEGIN /
const BEARER_HINT = /bearer\s/i
/** Everything else has a name before its value. */
const NAMED_HINT = /[:=]/

/** What tells by its form that it is a credential. */
const CREDENTIAL =
  /(?:gwk_|\b(?:sk-|AIza|AKIA|ASIA|ya29\.|[Bb][Ee][Aa][Rr][Ee][Rr]\s{1,8}))[\w.~+/=-]{8,}/g
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,32}PRIVATE KEY-----|$)/g
/** `://user:password@host` */
const USER_INFO = /:\/\/([^\s/?#@]{1,512})@/g
const PARAMETER = /[?&;](?:amp;)?([\w.~%-]{1,64})=([^&#\s"'<>\\]+)/g
/** A header or a setting as it stands in a command line, in code or in a document. */
const SETTING =
  /(?:authorization|api[-_]?key)\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?:(?:basic|bearer|digest|token|negotiate)\s{1,4})?([^\s"'\\,;&]{4,})/gi
/** A sensitive key of JSON that stands in the text, escaped as often as it may be. */
const QUOTED_KEY = new RegExp(
  `(\\\\{0,15})(["'])(?:${sensitiveKeyPattern})\\1\\2\\s{0,32}:\\s{0,32}`,
  'gi',
)

/** The text without the secrets in it; the same string when there are none. */
export function redactText(text: string): string {
  const cuts = findSecrets(text)
  if (cuts.length === 0) return text
  let out = ''
  let at = 0
  for (const { start, end, instead } of cuts) {
    out += text.slice(at, start) + instead
    at = end
  }
  return out + text.slice(at)
}

/** The secrets in a text: in order, never overlapping. */
export function findSecrets(text: string): readonly Cut[] {
  if (text.length < SHORTEST) return none
  const hasCredential = HINT.test(text) || BEARER_HINT.test(text)
  const hasNames = NAMED_HINT.test(text)
  if (!hasCredential && !hasNames) return none
  const cuts: Cut[] = []
  const cut = (start: number, end: number, instead = REDACTED) => {
    if (end > start) cuts.push({ start, end, instead })
  }
  /** Cuts a group that ends where its match, or `before` characters earlier. */
  const cutGroup = (match: RegExpExecArray, group: number, before = 0) => {
    const end = endOf(match) - before
    cut(end - (match[group] as string).length, end)
  }
  if (hasCredential) {
    each(CREDENTIAL, text, (match) => cutGroup(match, 0))
    each(PRIVATE_KEY, text, (match) => cutGroup(match, 0))
  }
  if (hasNames) {
    each(USER_INFO, text, (match) => cutGroup(match, 1, 1))
    each(SETTING, text, (match) => cutGroup(match, 1))
    each(PARAMETER, text, (match) => {
      if (isSensitiveParameter(decoded(match[1] as string))) cutGroup(match, 2)
    })
    each(QUOTED_KEY, text, ({ 1: slashes = '', 2: quote = '' }, start) => {
      const end = endOfValue(text, start, slashes.length, quote)
      if (text.startsWith(slashes + quote, start)) {
        cut(start + slashes.length + 1, end)
      } else if (text.slice(start, end) !== 'null') {
        cut(start, end, `${slashes}${quote}${REDACTED}${slashes}${quote}`)
      }
    })
  }
  return cuts.length < 2 ? cuts : merged(cuts)
}

const none: readonly Cut[] = []

function each(
  pattern: RegExp,
  text: string,
  found: (match: RegExpExecArray, end: number) => void,
): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found(match, pattern.lastIndex)
  }
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length
}

function decoded(name: string): string {
  try {
    return name.includes('%') ? decodeURIComponent(name) : name
  } catch {
    return name
  }
}

/**
 * Where the JSON value at `start` ends, its quotes being escaped by `level` backslashes; for a
 * string before its closing quote. A value that breaks off ends with the text.
 */
function endOfValue(text: string, start: number, level: number, quote: string): number {
  const isQuoted = text.startsWith('\\'.repeat(level) + quote, start)
  if (isQuoted) return endOfString(text, start + level + 1, level, quote)
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string
    if (character === quote) {
      at = endOfString(text, at + 1, level, quote) + level
    } else if (character === '{' || character === '[') {
      depth++
    } else if (character === '}' || character === ']') {
      depth--
      if (depth <= 0) return depth < 0 ? at : at + 1
    } else if (depth === 0 && (character === ',' || character.trim() === '')) {
      return at
    }
  }
  return text.length
}

/** Where the closing quote begins, with its backslashes. One with more of them stands inside. */
function endOfString(text: string, start: number, level: number, quote: string): number {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let slashes = 0
    while (at - slashes > start && text[at - slashes - 1] === '\\') slashes++
    if (slashes <= level) return at - slashes
  }
  return text.length
}

function merged(cuts: Cut[]): readonly Cut[] {
  cuts.sort((a, b) => a.start - b.start || b.end - a.end)
  const out: Cut[] = []
  for (const next of cuts) {
    const last = out.at(-1)
    if (last === undefined || next.start >= last.end) out.push(next)
    else if (next.end > last.end) out[out.length - 1] = { ...last, end: next.end }
  }
  return out
}
