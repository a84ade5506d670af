import { findKeys } from 'model-gateway/wire'
import { isSecretMember, isSensitiveParameter, nameKind, normalName } from './sensitive-names.ts'

export const REDACTED = '[redacted]'

/** A part of a text that must not be stored, and its replacement. */
export interface Cut {
  readonly start: number
  readonly end: number
  readonly instead: string
}

// Each text of each payload comes by here, and nearly all of them hold nothing. What has a name is found
// from the `:` or `=` behind the name, and each of these is looked at once, within bounds, so that no
// text takes more than linear time.

const SHORTEST = 6
const LONGEST_NAME = 64
const MOST_BLANKS = 32
const MOST_SLASHES = 15

const PARAMETER_VALUE = /[^&#\s"'<>\\]+/y
/** After a `;`, as in a connection string, the next `;` ends it. */
const PART_VALUE = /[^;&#\s"'<>\\]+/y
/** Before the value of a setting: spaces, a quote, the scheme of an `Authorization` header. */
const LEAD = /[ \t]{0,4}(\\{0,15}["'`])?((?:basic|bearer|digest|negotiate|token)[ \t]{1,4})?/iy
const QUOTED = /[^"'`\\\r\n]{4,}/y
const WORD = /[^\s"'`\\,;&]{4,}/y
/** A word after a name that is code, not a secret. */
const CODE =
  /[$<{([]|[A-Za-z_][\w.]{0,64}[([{]|(?:any|bool|boolean|bytes|false|none|null|number|str|string|true|undefined|unknown)\b/iy
/** Names that do not occur in prose. */
const CERTAIN = /authorization|api[-_]?key/i
/** More words on the same line. */
const PROSE = /[ \t]{1,32}[^\s#/]/y

/** The text without secrets; the same string if it has none. */
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

/** The secrets in a text: in order, without overlaps. */
export function findSecrets(text: string): readonly Cut[] {
  if (text.length < SHORTEST) return none
  let cuts: Cut[] | undefined
  const cut = (start: number, end: number, instead = REDACTED) => {
    if (end <= start) return
    cuts ??= []
    cuts.push({ start, end, instead })
  }
  findKeys(text, cut)
  let colon = text.indexOf(':')
  let equals = text.indexOf('=')
  while (colon !== -1 || equals !== -1) {
    const isColon = equals === -1 || (colon !== -1 && colon < equals)
    const at = isColon ? colon : equals
    const found = isColon ? secretBehindColon(text, at) : secretBehindEquals(text, at)
    // Parts that are removed as a whole are not searched further.
    const next = Math.max(at + 1, found?.end ?? 0)
    if (found !== undefined) cut(found.start, found.end, found.instead)
    if (colon !== -1 && colon < next) colon = text.indexOf(':', next)
    if (equals !== -1 && equals < next) equals = text.indexOf('=', next)
  }
  if (cuts === undefined) return none
  return cuts.length === 1 ? cuts : merged(cuts)
}

const none: readonly Cut[] = []

const QUOTE = 34
const APOSTROPHE = 39
const BACKSLASH = 92

/** In `"name":value`, or `name: value`. */
function secretBehindColon(text: string, colon: number): Cut | undefined {
  const end = endOfName(text, colon)
  const last = text.charCodeAt(end - 1)
  if (last === QUOTE || last === APOSTROPHE) return memberValue(text, end - 1, colon)
  const name = text.slice(startOfName(text, end), end)
  return nameKind(name) === 'secret' ? settingValue(text, name, colon) : undefined
}

/** In `?name=value`, or `name=value`. */
function secretBehindEquals(text: string, equals: number): Cut | undefined {
  const end = endOfName(text, equals)
  const start = startOfName(text, end)
  if (start === end) return undefined
  const name = text.slice(start, end)
  const before = text[start - 1]
  if (end === equals && (before === '?' || before === '&' || before === ';')) {
    if (!isSensitiveParameter(decoded(name))) return undefined
    const isPart = before === ';' && !text.startsWith('&amp', start - 5)
    const value = isPart ? PART_VALUE : PARAMETER_VALUE
    if (matchAt(value, text, equals + 1) === undefined) return undefined
    return { start: equals + 1, end: value.lastIndex, instead: REDACTED }
  }
  return nameKind(name) === 'secret' ? settingValue(text, name, equals) : undefined
}

/** Where a name before the separator ends; spaces may be between them. */
function endOfName(text: string, separator: number): number {
  const floor = Math.max(0, separator - MOST_BLANKS)
  let end = separator
  while (end > floor && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

function startOfName(text: string, end: number): number {
  const floor = Math.max(0, end - LONGEST_NAME)
  let start = end
  while (start > floor && isNameCharacter(text.charCodeAt(start - 1))) start--
  return start
}

/**
 * The value of a JSON member in the text, with any level of escaping. `quote` is the position of
 * the quote after its name.
 */
function memberValue(text: string, quote: number, colon: number): Cut | undefined {
  let level = 0
  while (level < MOST_SLASHES && text.charCodeAt(quote - level - 1) === BACKSLASH) level++
  const end = quote - level
  const code = text.charCodeAt(quote)
  const floor = Math.max(0, end - LONGEST_NAME)
  let begin = end
  while (begin > floor && text.charCodeAt(begin - 1) !== code) begin--
  const name = text.slice(begin, end)
  if (nameKind(name) === 'plain') return undefined
  const mark = text.slice(end, quote + 1)
  let start = colon + 1
  while (start - colon <= MOST_BLANKS && isBlank(text.charCodeAt(start))) start++
  const isText = text.startsWith(mark, start)
  if (!isText && !isSecretMember(name, literal(text, start))) return undefined
  const stop = endOfValue(text, start, level, mark.at(-1) as string)
  if (isText) return { start: start + mark.length, end: stop, instead: REDACTED }
  return { start, end: stop, instead: `${mark}${REDACTED}${mark}` }
}

/** A value that is not text, as far as it matters. */
function literal(text: string, start: number): boolean | number | null {
  const begin = text.slice(start, start + 5)
  if (begin.startsWith('null')) return null
  return begin.startsWith('true') || begin === 'false' ? true : 0
}

/** The value of a setting, unless it looks like code or prose. */
function settingValue(text: string, name: string, separator: number): Cut | undefined {
  // In Go.
  const behind = text.startsWith(':=', separator) ? separator + 2 : separator + 1
  if (/[:=>~]/.test(text[behind] ?? '') || text.startsWith('//', behind)) return undefined
  const { 0: lead, 1: quote, 2: scheme } = matchAt(LEAD, text, behind) as RegExpExecArray
  const start = behind + lead.length
  if (quote !== undefined) {
    if (matchAt(QUOTED, text, start) === undefined) return undefined
    return { start, end: QUOTED.lastIndex, instead: REDACTED }
  }
  const isCertain = scheme !== undefined || CERTAIN.test(name)
  if (!isCertain) {
    if (matchAt(CODE, text, start) !== undefined) return undefined
    // `password=password`
    if (normalName(text.slice(start, start + name.length)) === normalName(name)) return undefined
  }
  if (matchAt(WORD, text, start) === undefined) return undefined
  const end = WORD.lastIndex
  const isProse = lead !== '' && matchAt(PROSE, text, end) !== undefined
  return isProse && !isCertain ? undefined : { start, end, instead: REDACTED }
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | undefined {
  sticky.lastIndex = at
  return sticky.exec(text) ?? undefined
}

function isNameCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46 ||
    code === 37 ||
    code === 126
  )
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

function decoded(name: string): string {
  try {
    return name.includes('%') ? decodeURIComponent(name) : name
  } catch {
    return name
  }
}

/**
 * Where the JSON value at `start` ends, if its quotes are escaped by `level` backslashes; for a
 * string, before its closing quote. A truncated value ends with the text.
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

/**
 * Where the closing quote begins, with its backslashes. A quote with more backslashes is inside.
 */
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
