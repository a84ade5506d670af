/**
 * A price in USD per million tokens as pico-USD (10⁻¹² USD) per token, exactly; `undefined` when it
 * is finer than that, or no plain decimal.
 */
export function picoUsdPerToken(usdPerMillion: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(usdPerMillion)
  if (match === null) return undefined
  const [, whole = '', fraction = ''] = match
  if (/[1-9]/.test(fraction.slice(6))) return undefined
  return BigInt(whole + fraction.slice(0, 6).padEnd(6, '0'))
}

/** The way back: USD per million tokens as a plain decimal. */
export function usdPerMillion(picoUsdPerToken: bigint): string {
  const digits = picoUsdPerToken.toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -6) : `${digits.slice(0, -6)}.${fraction}`
}
