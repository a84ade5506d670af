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
