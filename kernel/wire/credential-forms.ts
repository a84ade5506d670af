/** What is shorter stands in texts by chance: to mask it would protect nothing. */
const SHORTEST = 4
/** The same for what a credential is in base64 or hexadecimal digits. */
const SHORTEST_ENCODED = 8
/** Escapes within escapes that are undone: JSON text in JSON text in an address. */
const LAYERS = 4

/**
 * The secret texts of header values that were sent: each with its scheme and without
 * it, and the password of `Basic`. For `maskForms`, which knows how they may be written.
 */
export function credentialForms(values: readonly string[]): readonly string[] {
  // Tool calls of servers that want no credentials come by here, too.
  if (values.length === 0) return []
  return [...new Set(values.flatMap(credentialsOf).filter(({ length }) => length >= SHORTEST))]
}

/**
 * Masks the forms in an upstream's words: as they are, escaped as in JSON, addresses or HTML, however
 * often, and in base64 or hexadecimal digits.
 */
export function maskForms(text: string, forms: readonly string[]): string {
  // No way to write one is shorter than it is.
  const fitting = forms.filter(({ length }) => length <= text.length)
  if (fitting.length === 0) return text
  // The longest come first, so that none hides another from a mask.
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

/** `Credential=AKIA…/20261122/us-east-1`, `response="…"`: each value, and what it has before a slash. */
function parametersOf(bare: string): string[] {
  return [...bare.matchAll(/\w="?([^\s"=,]{8,})/g)].flatMap(([, value = '']) => [
    value,
    ...value.split('/', 1).filter(({ length }) => length >= SHORTEST_ENCODED),
  ])
}

/** In base64, wherever in a longer text it begins, in the base64 of addresses, and in hexadecimal. */
function encodings(form: string): readonly string[] {
  const bytes = Buffer.from(form)
  const base64 = [0, 1, 2].map((before) => {
    const bits = 8 * (before + bytes.length)
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The digits that no neighbour has a part in.
    return text.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
  })
  const inAddresses = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  return [...new Set([...base64, ...inAddresses, hex, hex.toUpperCase()])].filter(
    ({ length }) => length >= SHORTEST_ENCODED,
  )
}

/** A text with its escapes undone; `from` has where each of its characters began, and its end. */
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

/** One layer of escapes fewer. */
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
