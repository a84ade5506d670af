/** Exact decimals of files: money and tokens are never floats. */

const PLACES = 12
/** Amounts are integers in 10⁻¹² of their unit: pico-USD, or 10⁻¹² tokens. */
export const ONE = 10n ** BigInt(PLACES)

const NUMBER = /^(-?)\$?(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,3}))?$/i
const THOUSANDS = /^-?\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

export interface Amount {
  /** In 10⁻¹², rounded half up if the file has more decimals. */
  readonly scaled: bigint
  /** Number of decimals in the file. */
  readonly places: number
  /** Whether the file has more decimals than 12. */
  readonly cut: boolean
}

/**
 * A decimal as files have them: `0.25`, `-1,234.50`, `$3`, `6.1E-7`. Undefined for anything else.
 *
 * @example readAmount('0.25')?.scaled // 250000000000n
 */
export function readAmount(text: string): Amount | undefined {
  const trimmed = text.trim()
  const plain = THOUSANDS.test(trimmed) ? trimmed.replaceAll(',', '') : trimmed
  const match = NUMBER.exec(plain)
  if (match === null) return undefined
  const [, sign, digits = '', exponent = '0'] = match
  const [whole = '', fraction = ''] = digits.split('.')
  const places = fraction.length - Number(exponent)
  const value = BigInt(whole + fraction)
  const shift = PLACES - places
  const power = 10n ** BigInt(Math.abs(shift))
  const scaled = shift >= 0 ? value * power : (value + power / 2n) / power
  return {
    scaled: sign === '-' ? -scaled : scaled,
    places: Math.max(places, 0),
    cut: shift < 0 && value % power !== 0n,
  }
}

/** Half of the last decimal, in 10⁻¹²: the largest rounding error at this number of decimals. */
export function halfOfLast(places: number): bigint {
  return places >= PLACES ? 0n : 5n * 10n ** BigInt(PLACES - 1 - places)
}

/** Whole tokens of an amount in 10⁻¹² tokens, rounded. */
export function wholeTokens(scaled: bigint): bigint {
  const half = ONE / 2n
  return scaled < 0n ? -((-scaled + half) / ONE) : (scaled + half) / ONE
}

export function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}
