/**
 * A number as JSON or Python writes it, times a power of ten, as a plain decimal. Exact: only the point
 * moves. `undefined` for what is not a number, or is negative.
 *
 * @example shifted('1.25e-06', 6) // '1.25'
 */
export function shifted(written: string, places = 0): string | undefined {
  const match = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(written)
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const point = whole.length + Number(exponent) + places
  const digits = (whole + fraction).padStart(
    whole.length + fraction.length + Math.max(0, 1 - point),
    '0',
  )
  const at = Math.max(1, point)
  const before = digits
    .slice(0, at)
    .padEnd(at, '0')
    .replace(/^0+(?=\d)/, '')
  const after = digits.slice(at).replace(/0+$/, '')
  return after === '' ? before : `${before}.${after}`
}

/** Compares two plain decimals exactly. */
export function product(one: string, other: string): string {
  const exact = BigInt(one.replace('.', '')) * BigInt(other.replace('.', ''))
  return shifted(`${exact}e-${decimals(one) + decimals(other)}`) ?? '0'
}

/** Rounds a plain decimal half up to a number of places. */
export function rounded(decimal: string, places: number): string {
  const more = decimals(decimal) - places
  if (more <= 0) return decimal
  const unit = 10n ** BigInt(more)
  const exact = BigInt(decimal.replace('.', ''))
  return shifted(`${(exact + unit / 2n) / unit}e-${places}`) ?? '0'
}

/** Parses JSON, with every number as its original text. */
export function parseNumbersAsText(json: string): unknown {
  return JSON.parse(json, (_key, value, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value,
  )
}

/** Whether one of two decimals is the other, rounded to the digits that it has. */
export function sameButForRounding(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].sort((a, b) => decimals(a) - decimals(b))
  const places = decimals(short)
  if (places === decimals(long)) return one === other
  const scale = decimals(long) - places
  const exact = BigInt(long.replace('.', ''))
  const rounded = BigInt(short.replace('.', '')) * 10n ** BigInt(scale)
  const off = exact > rounded ? exact - rounded : rounded - exact
  return places > 0 && off * 2n <= 10n ** BigInt(scale)
}

function decimals(text: string): number {
  return text.split('.')[1]?.length ?? 0
}
