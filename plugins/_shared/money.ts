const PLACES = 12

/** Converts a decimal amount of USD, with at most 12 places, to pico-USD (10⁻¹² USD), exactly. */
export function picoUsd(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

/** Pico-USD as a decimal amount of USD without trailing zeros. */
export function usd(picoUsd: bigint): string {
  if (picoUsd < 0n) return `-${usd(-picoUsd)}`
  const digits = picoUsd.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  const whole = digits.slice(0, -PLACES)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
