import { createHash, randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { AdminSessions, SessionCaller } from 'model-gateway/admin'
import { type Clock, GatewayError } from 'model-gateway/plugin'
import type { Note } from '../../_shared/note.ts'
import { type DeviceAccount, deviceCookie, knownDevice } from './devices.ts'
import { errors } from './errors.ts'
import { createPasswordCheck, type PasswordCheck } from './password-check.ts'
import type { Account, SessionStore } from './store.ts'
import { type Attempt, createThrottle, type Throttle } from './throttle.ts'

const MINUTE_MS = 60_000
const IDLE_MS = 8 * 60 * MINUTE_MS
export const LONGEST_MS = 7 * 24 * 60 * MINUTE_MS

const FORGET_MS = 15 * MINUTE_MS
const KEPT = 10_000
/** Recorded instead of an unknown e-mail address, which may be a password in the wrong field. */
const UNKNOWN = 'unknown'
/** Failures before waits begin, per account and per address; many users may share an address. */
const FREE_FAILURES = { account: 5, address: 30 }

export interface SignedIn {
  readonly token: string
  readonly caller: SessionCaller
  readonly expiresAt: Date
  /** The new value of the device cookie. */
  readonly device: string
}

/** An account with a matching password, and the hash that matched. */
type Compared = Account & { readonly hash: string }

/** The request of an attempt. */
export interface From {
  readonly requestId: string
  readonly address: string | undefined
  readonly userAgent: string | undefined
}

export interface Sessions extends AdminSessions {
  /**
   * Throws `invalid_credentials`, or `too_many_attempts` with `retry-after`. A device on which the
   * account has signed in before has a separate quota, which strangers cannot use up.
   */
  signIn(
    attempt: From & {
      readonly email: string
      readonly password: string
      /** Values of the device's cookie. */
      readonly devices: readonly string[]
    },
  ): Promise<SignedIn>
  /** The hash of the caller's own password if it matches; throws like `signIn`. */
  requirePassword(caller: SessionCaller, password: string, requestId: string): Promise<string>
  /** A new session for a user whose password matched this hash. */
  start(
    account: Omit<Account, 'hash' | 'status'>,
    passwordHash: string,
    devices?: readonly string[],
  ): Promise<SignedIn>
  end(caller: SessionCaller): Promise<void>
  /** The latest time at which the caller must sign in again. */
  expiresAt(caller: SessionCaller): Promise<Date>
  /** Resets the failed attempts of an account, by the hash of its e-mail. */
  unlock(account: string): void
  sweep(): Promise<void>
}

/** A limit that an attempt counts against. A success resets the failures of an account. */
interface Quota {
  readonly throttle: Throttle
  readonly key: string
  readonly of: 'user' | 'address'
}

/** An attempt to sign in to an account: its limits, and how a failure is recorded. */
interface Attempted {
  readonly email: string
  readonly password: string
  readonly quotas: readonly Quota[]
  readonly lane: Parameters<PasswordCheck['matches']>[2]
  readonly refused: (code: string, userId: string | undefined) => void
  readonly lockedOut: (what: Quota, userId: string | undefined) => void
}

export function createSessions(store: SessionStore, clock: Clock, note: Note): Sessions {
  const throttle = (free: number) => createThrottle({ free, limit: KEPT, forgetMs: FORGET_MS })
  const accounts = throttle(FREE_FAILURES.account)
  const devices = throttle(FREE_FAILURES.account)
  const addresses = throttle(FREE_FAILURES.address)
  const passwords = createPasswordCheck()

  const liveAt = (at: Date) => ({
    createdAfter: new Date(at.getTime() - LONGEST_MS),
    usedAfter: new Date(at.getTime() - IDLE_MS),
  })

  /** The last requested comparison, by limit. */
  const turns = new Map<string, Promise<Compared>>()

  /** One at a time per limit, because a pending comparison must not count as a failure. */
  async function compare(attempted: Attempted): Promise<Compared> {
    const key = attempted.quotas.at(-1)?.key ?? ''
    const before = turns.get(key)
    const turn = (async () => {
      await before?.catch(() => {})
      return await compareNow(attempted)
    })()
    turns.set(key, turn)
    try {
      return await turn
    } finally {
      if (turns.get(key) === turn) turns.delete(key)
    }
  }

  /**
   * The account, if the password is right. Takes as long for an unknown account, so that timing
   * does not reveal which accounts exist.
   */
  async function compareNow(attempted: Attempted): Promise<Compared> {
    const { email, password, quotas, lane, refused, lockedOut } = attempted
    const now = clock.now().getTime()
    const begun: (readonly [Quota, Attempt])[] = []
    for (const quota of quotas) {
      const attempt = quota.throttle.begin(quota.key, now)
      if (typeof attempt !== 'number') {
        begun.push([quota, attempt])
        continue
      }
      for (const [, other] of begun) other.forget('this')
      refused(errors.too_many_attempts.code, quota.throttle.subjectOf(quota.key))
      throw tooMany(attempt)
    }
    let account: Account | undefined
    let right = false
    try {
      account = await store.findAccount(email)
      right = await passwords.matches(password, account?.hash, lane)
    } catch (error) {
      for (const [, attempt] of begun) attempt.forget('this')
      if (error instanceof GatewayError) refused(error.code, account?.userId)
      throw error
    }
    const hash = account?.hash ?? undefined
    if (!right || hash === undefined || account === undefined || account.status === 'disabled') {
      refused(errors.invalid_credentials.code, account?.userId)
      for (const [quota, attempt] of begun) {
        const waitMs = attempt.failed(quota.of === 'user' ? account?.userId : undefined)
        if (waitMs > 0) lockedOut(quota, account?.userId)
      }
      throw wrongPassword()
    }
    for (const [quota, attempt] of begun) attempt.forget(quota.of === 'user' ? 'all' : 'this')
    return { ...account, hash }
  }

  async function start(
    { userId, email, name, role }: Omit<Account, 'hash' | 'status'>,
    passwordHash: string,
    cookies: readonly string[] = [],
  ) {
    const token = randomBytes(32).toString('base64url')
    const id = Bun.randomUUIDv7()
    const at = clock.now()
    await store.create({ id, tokenHash: hashToken(token), userId, passwordHash, at })
    const caller = { kind: 'session', sessionId: id, userId, email, name, role } as const
    const device = deviceCookie(cookies, { userId, hash: passwordHash })
    return { token, caller, expiresAt: new Date(at.getTime() + LONGEST_MS), device }
  }

  return {
    async find(token) {
      const at = clock.now()
      const session = await store.find(hashToken(token), liveAt(at))
      if (session === undefined) return undefined
      if (at.getTime() - session.lastUsedAt.getTime() > MINUTE_MS) {
        await store.touch(session.caller.sessionId, at)
      }
      return session.caller
    },
    async expiresAt({ sessionId }) {
      const createdAt = (await store.createdAt(sessionId)) ?? clock.now()
      return new Date(createdAt.getTime() + LONGEST_MS)
    },
    start,
    async signIn({ email: given, password, devices: cookies, ...from }) {
      const email = given.trim().toLowerCase()
      const account = accountKey(email)
      const found = cookies.length === 0 ? undefined : await store.findAccount(email)
      const device = knownDevice(cookies, withHash(found))
      const strangers: Quota[] = [
        { throttle: addresses, key: network(from.address), of: 'address' },
        { throttle: accounts, key: account, of: 'user' },
      ]
      const known: Quota[] = [{ throttle: devices, key: `${account} ${device}`, of: 'user' }]
      const said = { actor: undefined, ...from, objectKind: 'user' }
      const compared = await compare({
        email,
        password,
        quotas: device === undefined ? strangers : known,
        lane: device === undefined ? 'strangers' : 'known',
        refused: (outcome, userId) =>
          note({ ...said, action: 'auth.sign_in_refused', outcome, objectId: userId ?? UNKNOWN }),
        lockedOut: ({ of, key }, userId) =>
          note({
            ...said,
            action: 'auth.locked_out',
            outcome: errors.too_many_attempts.code,
            objectKind: of,
            objectId: of === 'address' ? key || UNKNOWN : (userId ?? UNKNOWN),
          }),
      })
      if (compared.status === 'invited') await store.activate(compared.userId)
      const signedIn = await start(compared, compared.hash, cookies)
      note({
        ...said,
        actor: signedIn.caller,
        action: 'auth.sign_in',
        objectId: compared.userId,
        after: { known_device: device !== undefined },
      })
      return signedIn
    },
    async requirePassword(caller, password, requestId) {
      const { email, userId } = caller
      const said = { actor: caller, requestId, objectKind: 'user', objectId: userId }
      const compared = await compare({
        email,
        password,
        quotas: [{ throttle: devices, key: `${accountKey(email)} session`, of: 'user' }],
        lane: 'known',
        refused: (outcome) => note({ ...said, action: 'auth.password_refused', outcome }),
        lockedOut: () =>
          note({ ...said, action: 'auth.locked_out', outcome: errors.too_many_attempts.code }),
      })
      return compared.hash
    },
    unlock(account) {
      accounts.forget((key) => key === account)
      devices.forget((key) => key.startsWith(`${account} `))
    },
    async end({ sessionId }) {
      await store.remove(sessionId)
    },
    async sweep() {
      await store.sweep(liveAt(clock.now()))
    },
  }
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The key that counts attempts at an account, whether or not it exists. */
export function accountKey(email: string): string {
  return hashToken(email)
}

function withHash(account: Account | undefined): DeviceAccount | undefined {
  const hash = account?.hash ?? undefined
  return account === undefined || hash === undefined ? undefined : { ...account, hash }
}

/** The key that counts attempts from an address; for IPv6 its /64, which one customer gets. */
function network(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? ''
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

export function wrongPassword(): GatewayError {
  return new GatewayError(errors.invalid_credentials, 'the email address or the password is wrong')
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000)
  return new GatewayError(
    errors.too_many_attempts,
    `too many failed attempts; try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
