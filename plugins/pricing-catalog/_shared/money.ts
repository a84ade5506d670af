import { pieceUnits, type Unit } from './sheet.ts'

const PIECES: ReadonlySet<string> = new Set(pieceUnits)

/**
 * Maximum number of decimals of a price of the unit in USD, because it must be a whole number of
 * pico-USD.
 */
export function decimalsOf(unit: string): number {
  return PIECES.has(unit) ? 9 : 6
}

/**
 * Converts a price, in USD per million tokens or per thousand pieces, exactly to pico-USD (10⁻¹²
 * USD) per unit; `undefined` if it is finer than that or not a plain decimal.
 */
export function picoUsd(unit: Unit, price: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(price)
  if (match === null) return undefined
  const [, whole = '', fraction = ''] = match
  const decimals = decimalsOf(unit)
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

/** The inverse: USD per million tokens, or per thousand pieces, as a plain decimal. */
export function shownPrice(unit: Unit, pico: bigint): string {
  const decimals = decimalsOf(unit)
  const digits = pico.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * Converts an amount in USD stated by a seller, such as `0.00014` or `1.4e-4`, to pico-USD. It is
 * rounded, because sellers send the results of float arithmetic. Undefined if it is not an amount.
 */
export function statedPicoUsd(amount: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i.exec(amount)
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const shift = 12 + Number(exponent) - fraction.length
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  const unit = 10n ** BigInt(-shift)
  return (digits + unit / 2n) / unit
}
