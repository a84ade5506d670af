/** Shown for an unknown value; never for zero. */
export const NOT_KNOWN = 'n/a'

const group = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ',')

/** An amount in USD with all its digits: `$1,234.500001`. */
export function usdExact(amount: string): string {
  const { sign, whole, fraction } = parts(amount)
  return `${sign}$${group(whole)}.${fraction.padEnd(2, '0')}`
}

/**
 * An amount in USD, rounded half up to cents. Below a cent it keeps two significant digits, so that
 * it never looks like zero; from a million it is rounded to dollars, so that it fits a column.
 */
export function usd(amount: string): string {
  const { sign, whole, fraction } = parts(amount)
  if (whole.length >= 7) {
    const up = fraction.charCodeAt(0) >= 0x35 ? 1n : 0n
    return `${sign}$${group((BigInt(whole) + up).toString())}`
  }
  if (whole !== '0' || fraction === '') return `${sign}$${rounded(whole, fraction, 2)}`
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  return `${sign}$${rounded(whole, fraction, zeros < 2 ? 2 : Math.min(12, zeros + 2))}`
}

function parts(amount: string) {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(amount)
  if (match === null) throw new Error(`${amount} is not an amount`)
  const [, sign = '', whole = '0', fraction = ''] = match
  return { sign, whole: whole.replace(/^0+(?=\d)/, ''), fraction: fraction.replace(/0+$/, '') }
}

function rounded(whole: string, fraction: string, places: number): string {
  const digits = fraction.padEnd(places + 1, '0')
  const up = digits.charCodeAt(places) >= 0x35 ? 1n : 0n
  const text = (BigInt(whole + digits.slice(0, places)) + up).toString().padStart(places + 1, '0')
  return `${group(text.slice(0, -places))}.${text.slice(-places)}`
}

/** As `usd`, for a computed number, such as a value in a chart. */
export function usdOf(amount: number): string {
  return usd(amount.toFixed(12))
}

/** A rough amount in USD for the axis of a chart: `$1.2k`. */
export function usdShort(amount: number): string {
  if (amount === 0) return '$0'
  if (amount < 0.01) return usdOf(amount)
  return amount < 10 ? `$${amount.toFixed(2)}` : `$${short(amount)}`
}

/** `12,345`; `n/a` for null. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NOT_KNOWN : group(String(value))
}

/** A count with its noun: `1 request`, `1,200 requests`. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`
}

/** `1.2M`, `34.5k`, `950`. */
export function short(value: number): string {
  // A value that rounds to 1000 of a unit is shown as 1 of the next unit.
  const [size, unit] =
    value >= 999.5e6
      ? [1e9, 'B']
      : value >= 999.5e3
        ? [1e6, 'M']
        : value >= 999.5
          ? [1e3, 'k']
          : [1, '']
  const scaled = value / size
  const text = scaled >= 100 || Number.isInteger(scaled) ? scaled.toFixed(0) : scaled.toFixed(1)
  return `${text.replace(/\.0$/, '')}${unit}`
}

/** A share between 0 and 1: `12.3%`, `< 0.1%`. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1%'
  return `${(share * 100).toFixed(share >= 0.9995 ? 0 : 1).replace(/\.0$/, '')}%`
}

/** `part / whole`; 0 if `whole` is 0. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Milliseconds: `850 ms`, `1.24 s`, `2 min 5 s`, `2 min`; `n/a` for null. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOT_KNOWN
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`
  const whole = Math.max(60, Math.floor(ms / 1000))
  return `${Math.floor(whole / 60)} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`
}

/** Bytes: `512 B`, `1.4 kB`, `3.2 MB`. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  return size < 999_950 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number) => String(value).padStart(2, '0')

/** A timestamp with its zone: `3 Nov 2026, 14:05:09 UTC`. */
export function dateTime(instant: string | null | undefined): string {
  if (instant === null || instant === undefined) return NOT_KNOWN
  const at = new Date(instant)
  return `${date(instant)}, ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} UTC`
}

/** A timestamp without year and zone, for tables that name the zone: `3 Nov, 14:05:09`. */
export function dayTime(instant: string): string {
  return `${day(instant)}, ${time(instant)}:${two(new Date(instant).getUTCSeconds())}`
}

/** The UTC date of a timestamp: `3 Nov 2026`. */
export function date(instant: string): string {
  return `${day(instant)} ${new Date(instant).getUTCFullYear()}`
}

/** The UTC date of a timestamp, without the year: `3 Nov`. */
export function day(instant: string): string {
  const at = new Date(instant)
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`
}

/** The UTC hours and minutes of a timestamp. */
export function time(instant: string): string {
  const at = new Date(instant)
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`
}

/** The time since or until a timestamp: `3 min ago`, `in 2 d`. */
export function ago(instant: string, now = Date.now()): string {
  const ms = now - new Date(instant).getTime()
  const size = Math.abs(ms)
  const [value, unit] =
    size < 60_000
      ? [Math.round(size / 1000), 's']
      : size < 3_600_000
        ? [Math.round(size / 60_000), 'min']
        : size < 86_400_000
          ? [Math.round(size / 3_600_000), 'h']
          : [Math.round(size / 86_400_000), 'd']
  return ms >= 0 ? `${value} ${unit} ago` : `in ${value} ${unit}`
}
