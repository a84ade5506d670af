import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signs the time and the whole body, so that neither can be changed and old requests expire. */
interface Signed {
  /** Unix seconds. */
  readonly time: number
  readonly body: string
}

export function signatureOf({ time, body }: Signed, key: string): string {
  return createHmac('sha256', key).update(`${time}\n`).update(body).digest('hex')
}

/** Maximum clock difference between the two sides, in seconds. */
const TOLERANCE = 300

/** Verifies a signature; used by the stand-in and the tests. */
export function isSigned(signed: Signed, signature: string, key: string, now: number): boolean {
  if (!(Math.abs(now - signed.time) <= TOLERANCE)) return false
  const expected = Buffer.from(signatureOf(signed, key))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
