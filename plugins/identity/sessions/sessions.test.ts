import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { AuditEntry } from 'model-gateway/admin'
import { GatewayError } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import { hashPassword } from '../_shared/password.ts'
import plugin from '../index.ts'
import { accountKey, createSessions, type Sessions } from './sessions.ts'
import { createSessionStore, type SessionStore } from './store.ts'

const HOUR_MS = 3_600_000
const PASSWORD = 'correct horse battery'
const OTHER = 'another one 123'
const address = '192.0.2.1'

let db: TestDatabase
let store: SessionStore
let sessions: Sessions
let now: number
const clock = { now: () => new Date(now) }
const noted: AuditEntry[] = []
const note = (entry: AuditEntry) => void noted.push(entry)
beforeEach(async () => {
  now = Date.parse('2026-01-01T00:00:00Z')
  db = await createTestDatabase()
  store = createSessionStore(
    await db.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? []),
  )
  noted.length = 0
  sessions = createSessions(store, clock, note)
  await store.makeAdmin({
    email: 'ada@example.com',
    name: 'Ada',
    hash: await hashPassword(PASSWORD),
    unless: 'never',
    fields: [],
    also: async () => {},
  })
})
afterEach(() => db.drop())

const call = { requestId: 'r', address, userAgent: 'curl', devices: [] as readonly string[] }
const signIn = (email = 'Ada@example.com', password = PASSWORD, from = address) =>
  sessions.signIn({ ...call, email, password, address: from })

const knownBy = (device: string, from = address) => ({
  ...call,
  email: 'ada@example.com',
  devices: device === '' ? [] : ['no device', device],
  address: from,
})

async function refusal(run: () => Promise<unknown>): Promise<GatewayError> {
  try {
    await run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it was not refused')
}

test('a session lasts eight hours from its last use, and seven days in all', async () => {
  const { token, caller } = await signIn()
  expect(await sessions.find(token)).toEqual(caller)
  expect(await sessions.find(`${token}x`)).toBeUndefined()
  for (let hours = 0; hours < 7 * 24 - 7; hours += 7) {
    expect(await sessions.find(token)).toEqual(caller)
    now += 7 * HOUR_MS
  }
  now += 7 * HOUR_MS
  expect(await sessions.find(token)).toBeUndefined()

  const idle = await signIn()
  now += 8 * HOUR_MS - 1
  expect(await sessions.find(idle.token)).toEqual(idle.caller)
  now += 8 * HOUR_MS
  expect(await sessions.find(idle.token)).toBeUndefined()
  await sessions.sweep()
  expect((await db.sql`select id from identity.user_sessions`).length).toBe(0)
})

test('any use keeps a session, not only one an hour after the last', async () => {
  const { token, caller } = await signIn()
  now += HOUR_MS / 2
  await sessions.find(token)
  now += 8 * HOUR_MS - 1
  expect(await sessions.find(token)).toEqual(caller)
})

test('spaces around an e-mail and another writing of the same password sign in as well', async () => {
  const hash = await hashPassword('pässwörter lang'.normalize('NFC'))
  await db.sql`update identity.user_passwords set hash = ${hash}`
  await signIn(' Ada@example.com ', 'pässwörter lang'.normalize('NFD'))
})

test('signing in activates an invited user; a disabled user gets the error of an unknown one', async () => {
  await db.sql`update identity.users set status = 'invited'`
  const { token, caller } = await signIn()
  expect(await sessions.find(token)).toEqual(caller)
  await db.sql`update identity.users set status = 'disabled'`
  const { message } = await refusal(() => signIn())
  expect(message).toBe('the email address or the password is wrong')
})

test('the database holds no token, and the password only as argon2id', async () => {
  const { token } = await signIn()
  const [session] = await db.sql`select * from identity.user_sessions`
  expect(JSON.stringify(session)).not.toContain(token)
  expect(Buffer.from(token, 'base64url').length).toBe(32)
  const [password] = await db.sql`select hash from identity.user_passwords`
  expect(password?.hash).toStartWith('$argon2id$')
})

test('an unknown, a disabled and a wrong sign-in get the same answer in the same time', async () => {
  await db.sql`insert into identity.users (id, name, email) values (gen_random_uuid(), 'K', 'keys@example.com')`
  await signIn()
  const cases = [
    ['nobody@example.com', PASSWORD],
    ['keys@example.com', PASSWORD],
    ['ada@example.com', 'wrong horse battery'],
  ] as const
  // Compares the costs, because durations depend on the load of the machine.
  const cpu = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  const times = new Map<string, number[]>(cases.map(([email]) => [email, []]))
  for (let round = 0; round < 5; round++) {
    for (const [email, password] of cases) {
      const start = cpu()
      const { code, message, headers } = await refusal(() => signIn(email, password))
      times.get(email)?.push(cpu() - start)
      expect([code, message, headers]).toEqual([
        'invalid_credentials',
        'the email address or the password is wrong',
        {},
      ])
      now += 10
    }
  }
  const fastest = [...times.values()].map((list) => Math.min(...list))
  expect(Math.max(...fastest)).toBeLessThan(Math.min(...fastest) * 2)
})

test('failures lock an account for every address, and a success ends the lock', async () => {
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong', `10.0.0.${i}`))
  const refused = await refusal(() => signIn())
  expect(refused.headers['retry-after']).toBe('1')
  now += 1000
  await signIn()
  await refusal(() => signIn('ada@example.com', 'wrong'))
  await signIn()
})

test('right sign-ins at once all succeed; of wrong ones no more are compared than one by one', async () => {
  const signedIn = await Promise.all(Array.from({ length: 12 }, () => signIn()))
  expect(new Set(signedIn.map(({ token }) => token)).size).toBe(12)
  const guesses = Array.from({ length: 12 }, () =>
    refusal(() => signIn('ada@example.com', 'wrong')),
  )
  const refused = (await Promise.all(guesses)).map(({ headers }) => headers['retry-after'] ?? '')
  expect(refused).toEqual([...Array(6).fill(''), ...Array(6).fill('1')])
}, 20_000)

test.each([
  [
    'of IPv6 the whole network',
    (i: number) => `2001:db8:1:2::${i.toString(16)}`,
    '2001:db8:1:3::1',
  ],
  ['of IPv4 in either writing', (i: number) => `${i % 2 ? '::ffff:' : ''}192.0.2.7`, '192.0.2.8'],
])(
  'an address that guesses at many accounts has to wait, %s',
  async (_, from, other) => {
    let device = ''
    for (let i = 0; i < 31; i++) {
      await refusal(() => signIn(`a${i}@example.com`, 'wrong', from(i)))
      // A successful sign-in to one account does not reset the failures of the address.
      if (i === 20) device = (await signIn('ada@example.com', PASSWORD, from(i))).device
    }
    const refused = await refusal(() => signIn('ada@example.com', PASSWORD, from(99)))
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    await sessions.signIn({ ...knownBy(device, from(99)), password: PASSWORD })
    await signIn('ada@example.com', PASSWORD, other)
  },
  20_000,
)

test('throttled attempts and database errors do not count as failures', async () => {
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong'))
  for (let i = 0; i < 40; i++) {
    expect((await refusal(() => signIn())).headers['retry-after']).toBe('1')
  }
  const stranger = await refusal(() => signIn('other@example.com', 'wrong'))
  expect(stranger.headers['retry-after']).toBeUndefined()
  now += 1000
  await signIn()
  const away = async () => Promise.reject(new Error('away'))
  let findAccount: SessionStore['findAccount'] = away
  const failing = createSessions(
    { ...store, findAccount: (email) => findAccount(email) },
    clock,
    note,
  )
  const attempt = { ...call, email: 'ada@example.com', password: PASSWORD }
  for (let i = 0; i < 40; i++) await expect(failing.signIn(attempt)).rejects.toThrow('away')
  findAccount = store.findAccount
  await failing.signIn(attempt)
}, 20_000)

test('a user who is disabled during sign-in gets no valid session', async () => {
  const { caller } = await signIn()
  await db.sql`update identity.users set status = 'disabled'`
  const { token } = await sessions.start(caller, await passwordHash())
  expect(await sessions.find(token)).toBeUndefined()
})

async function changePassword(userId: string, also = async () => {}): Promise<void> {
  const hashes = { before: await passwordHash(), after: await hashPassword(OTHER) }
  expect(await store.changePassword(userId, hashes, also)).toBe(true)
}

async function passwordHash(): Promise<string> {
  const [row] = await db.sql<{ hash: string }[]>`select hash from identity.user_passwords`
  return row?.hash ?? ''
}

test('a password that is changed while it is compared opens no session', async () => {
  const changing = createSessions(
    {
      ...store,
      async findAccount(email) {
        const account = await store.findAccount(email)
        await changePassword(account?.userId ?? '')
        return account
      },
    },
    clock,
    note,
  )
  const attempt = { ...call, email: 'ada@example.com', password: PASSWORD }
  const { token } = await changing.signIn(attempt)
  expect(await sessions.find(token)).toBeUndefined()
})

test('a session that begins while the password is being changed ends with the change', async () => {
  const { caller } = await signIn()
  const before = await passwordHash()
  let starting: Promise<{ token: string }> | undefined
  await changePassword(caller.userId, async () => {
    starting = sessions.start(caller, before)
    await Bun.sleep(100)
  })
  const { token } = (await starting) as { token: string }
  expect(await sessions.find(token)).toBeUndefined()
})

test('a password that was set meanwhile is not overwritten with the old one’s proof', async () => {
  const { caller } = await signIn()
  const before = await sessions.requirePassword(caller, PASSWORD, 'r')
  await changePassword(caller.userId)
  const renewed = await signIn('ada@example.com', OTHER)
  const also = () => Promise.reject(new Error('there is nothing to note'))
  const hashes = { before, after: await hashPassword('of a thief 123') }
  expect(await store.changePassword(caller.userId, hashes, also)).toBe(false)
  expect(await sessions.find(renewed.token)).toEqual(renewed.caller)
  await sessions.requirePassword(caller, OTHER, 'r')
})

test('guesses of strangers do not lock the account on a device that it has signed in on', async () => {
  const { device } = await signIn()
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong', `10.0.0.${i}`))
  expect((await refusal(() => signIn())).code).toBe('too_many_attempts')
  await sessions.signIn({ ...knownBy(device), password: PASSWORD })
})

test('guesses on a known device make only that device wait', async () => {
  const { device } = await signIn()
  const guess = () => sessions.signIn({ ...knownBy(device), password: 'wrong' })
  for (let i = 0; i < 6; i++) expect((await refusal(guess)).code).toBe('invalid_credentials')
  const refused = await refusal(() => sessions.signIn({ ...knownBy(device), password: PASSWORD }))
  expect([refused.code, refused.status, refused.headers['retry-after']]).toEqual([
    'too_many_attempts',
    429,
    '1',
  ])
  await signIn()
})

test('a device is known to the accounts that signed in on it, as long as their password stays', async () => {
  const fresh = { unless: 'never', fields: [], also: async () => {} } as const
  const hash = await hashPassword(OTHER)
  await store.makeAdmin({ email: 'bob@example.com', name: 'Bob', hash, ...fresh })
  const { device: ofBob } = await signIn('bob@example.com', OTHER)
  const { device: ofBoth } = await sessions.signIn({ ...knownBy(ofBob), password: PASSWORD })
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong'))
  // All others have to wait.
  const isKnown = (device: string) =>
    sessions.signIn({ ...knownBy(device), password: PASSWORD }).then(
      () => true,
      () => false,
    )
  expect(await isKnown(ofBoth)).toBe(true)
  expect(await isKnown(ofBob)).toBe(false)
  expect(await isKnown(`${'A'.repeat(22)}${ofBoth.slice(22)}`)).toBe(false)
  const same = await hashPassword(PASSWORD)
  await store.makeAdmin({ email: 'ada@example.com', name: 'Ada', hash: same, ...fresh })
  expect(await isKnown(ofBoth)).toBe(false)
})

test('guesses of strangers do not keep a user from changing the password', async () => {
  const { caller } = await signIn()
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong'))
  await sessions.requirePassword(caller, PASSWORD, 'r')
  for (let i = 0; i < 6; i++) await refusal(() => sessions.requirePassword(caller, 'wrong', 'r'))
  const refused = await refusal(() => sessions.requirePassword(caller, PASSWORD, 'r'))
  expect(refused.code).toBe('too_many_attempts')
})

test('an account that is unlocked has its attempts again', async () => {
  for (let i = 0; i < 6; i++) await refusal(() => signIn('ada@example.com', 'wrong'))
  sessions.unlock(accountKey('bob@example.com'))
  expect((await refusal(() => signIn())).code).toBe('too_many_attempts')
  sessions.unlock(accountKey('ada@example.com'))
  await signIn()
})

test('sign-ins, refusals and lock-outs are noted, with no e-mail of an unknown account', async () => {
  const { caller } = await signIn()
  for (let i = 0; i < 7; i++) await refusal(() => signIn('ada@example.com', 'wrong'))
  await refusal(() => signIn('my password, typed here', 'wrong'))
  const brief = noted.map(({ actor, action, outcome, objectKind, objectId }) => [
    actor?.userId ?? null,
    action,
    outcome ?? 'success',
    `${objectKind} ${objectId}`,
  ])
  const ada = `user ${caller.userId}`
  expect(brief).toEqual([
    [caller.userId, 'auth.sign_in', 'success', ada],
    ...Array(6).fill([null, 'auth.sign_in_refused', 'invalid_credentials', ada]),
    [null, 'auth.locked_out', 'too_many_attempts', ada],
    [null, 'auth.sign_in_refused', 'too_many_attempts', ada],
    [null, 'auth.sign_in_refused', 'invalid_credentials', 'user unknown'],
  ])
  expect(noted.every((entry) => entry.address === address && entry.userAgent === 'curl')).toBe(true)
  expect(JSON.stringify(noted)).not.toContain('typed here')
})
