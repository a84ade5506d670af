import { createHmac, timingSafeEqual } from 'node:crypto'

/** What is signed: when, and every byte of the body, so that neither can be changed or sent again later. */
interface Signed {
  /** Unix seconds. */
  readonly time: number
  readonly body: string
}

export function signatureOf({ time, body }: Signed, key: string): string {
  return createHmac('sha256', key).update(`${time}\n`).update(body).digest('hex')
}

/** How far the clocks of the two sides may be apart, in seconds. */
const TOLERANCE = 300

/** The other side of it, for the stand-in and the tests. */
export function isSigned(signed: Signed, signature: string, key: string, now: number): boolean {
  if (!(Math.abs(now - signed.time) <= TOLERANCE)) return false
  const expected = Buffer.from(signatureOf(signed, key))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
