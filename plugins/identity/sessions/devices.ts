import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Accounts that a browser is remembered for, those that signed in last. */
const MOST_ACCOUNTS = 5
const FORM = new RegExp(`^[\\w-]{22}(\\.[\\w-]{43}){1,${MOST_ACCOUNTS}}$`)

/** What a device is signed with. */
export interface DeviceAccount {
  readonly userId: string
  /** Only the gateway knows it, and it changes with the password: then no device is known any more. */
  readonly hash: string
}

/** The id of the device that the cookies show, if the account has signed in on it. */
export function knownDevice(
  cookies: readonly string[],
  account: DeviceAccount | undefined,
): string | undefined {
  for (const [id, ...signatures] of read(cookies)) {
    // Without an account this takes as long.
    const own = Buffer.from(sign(id, account ?? { userId: '', hash: '-' }))
    const found = signatures.filter((one) => timingSafeEqual(Buffer.from(one), own)).length > 0
    if (found && account !== undefined) return id
  }
  return undefined
}

/** The cookie of the same device, or of a new one, after the account has signed in on it. */
export function deviceCookie(cookies: readonly string[], account: DeviceAccount): string {
  const [id = randomBytes(16).toString('base64url'), ...others] = read(cookies)[0] ?? []
  const own = sign(id, account)
  const signatures = [own, ...others.filter((one) => one !== own)].slice(0, MOST_ACCOUNTS)
  return [id, ...signatures].join('.')
}

function read(cookies: readonly string[]) {
  return cookies
    .filter((cookie) => FORM.test(cookie))
    .map((cookie) => cookie.split('.') as [id: string, ...signatures: string[]])
}

function sign(id: string, { userId, hash }: DeviceAccount): string {
  return createHmac('sha256', hash).update(`gateway_device ${userId} ${id}`).digest('base64url')
}
