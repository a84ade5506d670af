import { pieceUnits, type Unit } from './sheet.ts'

const PIECES: ReadonlySet<string> = new Set(pieceUnits)

/** Decimals of a USD that a price of the unit may have: what is finer is no whole pico-USD. */
export function decimalsOf(unit: string): number {
  return PIECES.has(unit) ? 9 : 6
}

/**
 * A price, in USD per million tokens or per thousand pieces, as pico-USD (10⁻¹² USD) per unit, exactly;
 * `undefined` when it is finer than that, or no plain decimal.
 */
export function picoUsd(unit: Unit, price: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(price)
  if (match === null) return undefined
  const [, whole = '', fraction = ''] = match
  const decimals = decimalsOf(unit)
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

/** The way back: USD per million tokens, or per thousand pieces, as a plain decimal. */
export function shownPrice(unit: Unit, pico: bigint): string {
  const decimals = decimalsOf(unit)
  const digits = pico.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
