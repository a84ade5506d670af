import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Maximum number of accounts per browser; the latest sign-ins are kept. */
const MOST_ACCOUNTS = 5
const FORM = new RegExp(`^[\\w-]{22}(\\.[\\w-]{43}){1,${MOST_ACCOUNTS}}$`)

/** The account data that signs a device cookie. */
export interface DeviceAccount {
  readonly userId: string
  /** The HMAC key is the password hash, so that a new password invalidates all devices. */
  readonly hash: string
}

/** The device id in the cookies, if the account has signed in on that device. */
export function knownDevice(
  cookies: readonly string[],
  account: DeviceAccount | undefined,
): string | undefined {
  for (const [id, ...signatures] of read(cookies)) {
    // Takes as long without an account, so that timing does not reveal accounts.
    const own = Buffer.from(sign(id, account ?? { userId: '', hash: '-' }))
    const found = signatures.filter((one) => timingSafeEqual(Buffer.from(one), own)).length > 0
    if (found && account !== undefined) return id
  }
  return undefined
}

/** The cookie for the same or a new device, after the account has signed in on it. */
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
