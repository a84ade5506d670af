/** Shorter values occur in texts by chance; masking them would protect nothing. */
const SHORTEST = 4
/** The same limit for base64 or hexadecimal forms. */
const SHORTEST_ENCODED = 8
/** Levels of nested escapes to undo: JSON in JSON in a URL. */
const LAYERS = 4

/**
 * The secret parts of sent header values: each with and without its scheme, and the password of
 * `Basic`. For `maskForms`, which handles other spellings.
 */
export function credentialForms(values: readonly string[]): readonly string[] {
  // Fast path for MCP servers without credentials.
  if (values.length === 0) return []
  return [...new Set(values.flatMap(credentialsOf).filter(({ length }) => length >= SHORTEST))]
}

/**
 * Masks the forms in an upstream's message: plain, escaped as in JSON, URLs or HTML, at any depth,
 * and in base64 or hexadecimal.
 */
export function maskForms(text: string, forms: readonly string[]): string {
  // No spelling is shorter than the value.
  const fitting = forms.filter(({ length }) => length <= text.length)
  if (fitting.length === 0) return text
  // Longest first, so that masking one does not break another.
  const wanted = fitting
    .flatMap((form) => [form, ...encodings(form)])
    .sort((a, b) => b.length - a.length)
  let read: Reading = { text: wanted.reduce(mask, text), from: undefined }
  const plain = read.text
  const cuts: (readonly [number, number])[] = []
  for (let layer = 0; layer < LAYERS && ESCAPE_SIGN.test(read.text); layer++) {
    read = unescaped(read)
    for (const form of wanted) {
      for (let at = read.text.indexOf(form); at !== -1; at = read.text.indexOf(form, at + 1))
        cuts.push([startOf(read, at), startOf(read, at + form.length)])
    }
  }
  return cuts.length === 0 ? plain : withoutCuts(plain, cuts)
}

function mask(text: string, form: string): string {
  return text.replaceAll(form, '[redacted]')
}

function withoutCuts(text: string, cuts: (readonly [number, number])[]): string {
  let out = ''
  let done = 0
  for (const [start, end] of cuts.sort(([a], [b]) => a - b)) {
    if (start >= done) out += `${text.slice(done, start)}[redacted]`
    done = Math.max(done, end)
  }
  return out + text.slice(done)
}

function credentialsOf(value: string): string[] {
  const whole = value.trim()
  const { 1: scheme = '', 2: bare } = /^(\S+)\s+(.+)$/s.exec(whole) ?? []
  if (bare === undefined) return [whole]
  if (scheme.toLowerCase() !== 'basic') return [whole, bare, ...parametersOf(bare)]
  const pair = Buffer.from(bare, 'base64').toString('utf8')
  return [whole, bare, pair.slice(pair.indexOf(':') + 1)]
}

/** `Credential=AKIA…/20261122/us-east-1`, `response="…"`: each value, and what precedes a slash. */
function parametersOf(bare: string): string[] {
  return [...bare.matchAll(/\w="?([^\s"=,]{8,})/g)].flatMap(([, value = '']) => [
    value,
    ...value.split('/', 1).filter(({ length }) => length >= SHORTEST_ENCODED),
  ])
}

/** In base64 at any offset of a longer text, in URL-safe base64, and in hexadecimal. */
function encodings(form: string): readonly string[] {
  const bytes = Buffer.from(form)
  const base64 = [0, 1, 2].map((before) => {
    const bits = 8 * (before + bytes.length)
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The digits that do not depend on neighbours.
    return text.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
  })
  const inAddresses = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  return [...new Set([...base64, ...inAddresses, hex, hex.toUpperCase()])].filter(
    ({ length }) => length >= SHORTEST_ENCODED,
  )
}

/** A text without escapes; `from` has the original start of each character, and the end. */
interface Reading {
  readonly text: string
  readonly from: readonly number[] | undefined
}

const ESCAPE_SIGN = /[\\%&]/
const ESCAPE =
  /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|([^ux]))|((?:%[0-9a-f]{2})+)|&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|apos|gt|lt|quot));/gis
const LETTERS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  quot: '"',
}

function startOf({ from }: Reading, at: number): number {
  return from === undefined ? at : (from[at] ?? at)
}

/** Removes one level of escapes. */
function unescaped(before: Reading): Reading {
  let text = ''
  const from: number[] = []
  let done = 0
  const keep = (until: number) => {
    for (let at = done; at < until; at++) from.push(startOf(before, at))
    text += before.text.slice(done, until)
  }
  for (const match of before.text.matchAll(ESCAPE)) {
    keep(match.index)
    const meant = meaning(match)
    for (let unit = 0; unit < meant.length; unit++) from.push(startOf(before, match.index))
    text += meant
    done = match.index + match[0].length
  }
  keep(before.text.length)
  from.push(startOf(before, before.text.length))
  return { text, from }
}

function meaning([
  whole,
  u4,
  u6,
  x2,
  letter,
  percent,
  hex,
  decimal,
  name,
]: RegExpMatchArray): string {
  if (percent !== undefined) return Buffer.from(percent.replaceAll('%', ''), 'hex').toString()
  const named = letter ?? name
  if (named !== undefined) return LETTERS[named] ?? named
  const digits = u4 ?? u6 ?? x2 ?? hex
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}
