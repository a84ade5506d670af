import { createHash, randomBytes } from 'node:crypto'
import {
  type AdminSessions,
  type Clock,
  GatewayError,
  type SessionCaller,
} from 'model-gateway/plugin'
import { createPasswordCheck } from './password-check.ts'
import type { Account, SessionStore } from './store.ts'
import { type Attempt, createThrottle } from './throttle.ts'

const MINUTE_MS = 60_000
const IDLE_MS = 8 * 60 * MINUTE_MS
export const LONGEST_MS = 7 * 24 * 60 * MINUTE_MS

const FORGET_MS = 15 * MINUTE_MS
const KEPT = 10_000
/** Failures of an account, and of an address, behind which a whole company may be, before waits. */
const FREE_FAILURES = { account: 5, address: 30 }

export interface SignedIn {
  readonly token: string
  readonly caller: SessionCaller
  readonly expiresAt: Date
}

/** An account whose password, of this hash, was given. */
type Compared = Account & { readonly hash: string }

export interface Sessions extends AdminSessions {
  /** Throws `invalid_credentials`, with `retry-after` when there were too many attempts. */
  signIn(attempt: {
    readonly email: string
    readonly password: string
    readonly address: string | undefined
  }): Promise<SignedIn>
  /** The hash of the caller's own password, if this is it; throws as `signIn` does. */
  requirePassword(caller: SessionCaller, password: string, address?: string): Promise<string>
  /** A new session of somebody whose password, of this hash, has been compared. */
  start(account: Omit<Account, 'hash' | 'status'>, passwordHash: string): Promise<SignedIn>
  end(caller: SessionCaller): Promise<void>
  /** When the caller has to sign in again at the latest. */
  expiresAt(caller: SessionCaller): Promise<Date>
  sweep(): Promise<void>
}

export function createSessions(store: SessionStore, clock: Clock): Sessions {
  const accounts = createThrottle({ free: FREE_FAILURES.account, limit: KEPT, forgetMs: FORGET_MS })
  const addresses = createThrottle({
    free: FREE_FAILURES.address,
    limit: KEPT,
    forgetMs: FORGET_MS,
  })
  const passwords = createPasswordCheck()

  const liveAt = (at: Date) => ({
    createdAfter: new Date(at.getTime() - LONGEST_MS),
    usedAfter: new Date(at.getTime() - IDLE_MS),
  })

  /** By account: the comparison that was asked for last. */
  const turns = new Map<string, Promise<Compared>>()

  /** One after the other for each account: what is not over yet must not count as a failure. */
  async function compare(...attempt: Parameters<typeof compareNow>): Promise<Compared> {
    const account = hashToken(attempt[0])
    const before = turns.get(account)
    const turn = (async () => {
      await before?.catch(() => {})
      return await compareNow(...attempt)
    })()
    turns.set(account, turn)
    try {
      return await turn
    } finally {
      if (turns.get(account) === turn) turns.delete(account)
    }
  }

  /** The account, if the password is its own. Takes as long when there is no such account. */
  async function compareNow(
    email: string,
    password: string,
    address: string | undefined,
  ): Promise<Compared> {
    const now = clock.now().getTime()
    const attempts: Attempt[] = []
    const begin = (throttle: typeof accounts, key: string) => {
      const begun = throttle.begin(key, now)
      if (typeof begun !== 'number') return attempts.push(begun)
      for (const attempt of attempts) attempt.forget('this')
      throw tooMany(begun)
    }
    begin(addresses, network(address))
    begin(accounts, hashToken(email))
    let account: Account | undefined
    let right = false
    try {
      account = await store.findAccount(email)
      right = await passwords.matches(password, account?.hash)
    } catch (error) {
      for (const attempt of attempts) attempt.forget('this')
      throw error
    }
    const hash = account?.hash ?? undefined
    if (!right || hash === undefined || account === undefined || account.status === 'disabled') {
      throw wrongPassword()
    }
    attempts[0]?.forget('this')
    attempts[1]?.forget('all')
    return { ...account, hash }
  }

  async function start(
    { userId, email, name, role }: Omit<Account, 'hash' | 'status'>,
    passwordHash: string,
  ) {
    const token = randomBytes(32).toString('base64url')
    const id = Bun.randomUUIDv7()
    const at = clock.now()
    await store.create({ id, tokenHash: hashToken(token), userId, passwordHash, at })
    const caller = { kind: 'session', sessionId: id, userId, email, name, role } as const
    return { token, caller, expiresAt: new Date(at.getTime() + LONGEST_MS) }
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
    async signIn({ email, password, address }) {
      const account = await compare(email.trim().toLowerCase(), password, address)
      if (account.status === 'invited') await store.activate(account.userId)
      return await start(account, account.hash)
    },
    async requirePassword(caller, password, address) {
      return (await compare(caller.email, password, address)).hash
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

/** What counts as one address: of IPv6 the part that one customer gets, 64 bits. */
function network(address: string | undefined): string {
  if (address === undefined) return ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const rest = tail === '' ? 0 : tail.split(':').length
    groups.push(...new Array<string>(Math.max(0, 8 - groups.length - rest)).fill('0'))
  }
  return groups.slice(0, 4).join(':')
}

export function wrongPassword(): GatewayError {
  return new GatewayError('invalid_credentials', 'the e-mail or the password is wrong')
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000)
  return new GatewayError(
    'invalid_credentials',
    `there were too many failed attempts; try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
