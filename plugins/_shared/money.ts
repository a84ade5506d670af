const PLACES = 12

/** A decimal amount of USD, at most 12 places, as pico-USD (10⁻¹² USD), exactly. */
export function picoUsd(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

/** Pico-USD as a plain decimal amount of USD without trailing zeros. */
export function usd(picoUsd: bigint): string {
  if (picoUsd < 0n) return `-${usd(-picoUsd)}`
  const digits = picoUsd.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  const whole = digits.slice(0, -PLACES)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
