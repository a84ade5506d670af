import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Directory } from 'model-gateway/identity'
import type { Database } from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { startMailServer } from './__fixtures__/mail-server.ts'
import { createAlertStore } from './alert-store.ts'
import { createAlerts, RETRY_MS } from './alerts.ts'
import type { BudgetEntry } from './budget.ts'
import { createBudgetStore } from './budget-store.ts'
import type { EmailConfig } from './config.ts'
import type { Mail } from './mail.ts'
import { scopeKey } from './scopes.ts'
import {
  call,
  closeAll,
  dailyBudget,
  empty,
  migrations,
  openAccounting,
  serviceAccount,
  type TestAccountingOptions,
} from './testing.ts'
import { createMailTransport } from './transport.ts'
import { utcDay } from './window.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin('plugin.accounting', migrations)
})
afterAll(() => testDatabase.drop())
afterEach(async () => {
  await closeAll()
  await empty(testDatabase.sql)
})

const NOW = new Date('2026-04-01T00:00:05Z')
const silent = pino({ level: 'silent' })
type User = Directory['users'][number]
const person = (id: string, changes: Partial<User> = {}): User => ({
  id,
  email: `${id}@example.test`,
  name: id,
  status: 'active',
  team: undefined,
  ...changes,
})
const team = (role: 'owner' | 'admin' | 'member', id = 't2') => ({ id, role })
const bot = { id: 's1', key: 'bot', name: 'The bot', teamId: 't2' }

/** Replicas of one gateway; emails go to `server`, or are not sent. */
function replica(
  options: {
    users?: readonly User[]
    port?: number
    accounting?: TestAccountingOptions
    send?: (mail: Mail) => Promise<void>
    /** Delays reads of the directory. */
    reading?: () => Promise<unknown>
    now?: () => Date
    pollIntervalMs?: number
    batchSize?: number
    inForce?: () => boolean
  } = {},
) {
  const { users = [person('u1')], port, send = async () => {}, reading } = options
  const { now = () => NOW, pollIntervalMs = 0, batchSize = 25, inForce = () => true } = options
  const smtp = { host: '127.0.0.1', port: port ?? 1, starttls: false }
  const email: EmailConfig = {
    from: 'Gateway <gateway@example.test>',
    poll_interval_secs: 1,
    batch_size: 25,
    transport: 'smtp',
    smtp,
  }
  const alerts = createAlerts({
    store: createAlertStore(database),
    async directory() {
      await reading?.()
      return { users, serviceAccounts: [bot] }
    },
    settings: () =>
      inForce()
        ? {
            transport: port === undefined ? { send } : createMailTransport(email, silent),
            pollIntervalMs,
            batchSize,
          }
        : undefined,
    clock: { now },
    log: silent,
  })
  const accounting = openAccounting(database, {
    ...options.accounting,
    now,
    low: alerts.note,
  })
  return {
    ...accounting,
    ...alerts,
    /** The work that the gateway does every half second. */
    async look() {
      await accounting.refresh()
      await alerts.raise()
    },
    async budget(...entries: BudgetEntry[]) {
      await accounting.budget(entries)
      await alerts.raise()
    },
  }
}

/** 400 pico-USD. */
const today = (changes: Parameters<typeof call>[0] = {}) => call({ dispatchedAt: NOW, ...changes })
const raised = async () => [
  ...(await testDatabase.sql`
    select scope_key, spent_pico_usd as spent, remaining_pico_usd as remaining, window_start::text
    from accounting.budget_alerts order by scope_key, created_at`),
]
const deliveries = async () => [
  ...(await testDatabase.sql`
    select recipient, status, attempts, last_error from accounting.budget_alert_deliveries
    order by recipient`),
]
/** Makes the next attempt due. */
const waitIsOver = () =>
  testDatabase.sql`update accounting.budget_alert_deliveries set next_attempt_at = now()`

describe('an alert', () => {
  test('is raised once per window, when a charge leaves 20 % and not before', async () => {
    const gateway = replica()
    await gateway.budget(dailyBudget('u1', 2000n))
    for (const spent of [400, 800, 1200, 1600, 2000]) {
      await gateway.settle(today())
      await gateway.look()
      expect((await raised()).length).toBe(spent >= 1600 ? 1 : 0)
    }
    expect(await raised()).toEqual([
      {
        scope_key: 'budget:v1:user:u1',
        spent: '1600',
        remaining: '400',
        window_start: '2026-04-01',
      },
    ])
    expect(await deliveries()).toEqual([
      { recipient: 'u1@example.test', status: 'pending', attempts: 0, last_error: null },
    ])
  })

  test('that is due at the start waits for a config, and does not read the directory before', async () => {
    let inForce = false
    let asked = 0
    const reading = async () => void asked++
    const gateway = replica({ inForce: () => inForce, reading })
    await gateway.budget(dailyBudget('u1', 0n))
    await gateway.look()
    expect([asked, await raised()]).toEqual([0, []])
    inForce = true
    await gateway.look()
    expect([asked, (await raised()).length]).toEqual([1, 1])
  })

  test('is raised after an upsert, for each scope, and again when the window changes', async () => {
    const gateway = replica()
    await gateway.settle(today())
    await gateway.budget(dailyBudget('u1', 500n))
    expect(await raised()).toHaveLength(1)
    await gateway.budget(dailyBudget('u1', 450n))
    expect(await raised()).toHaveLength(1)
    await gateway.budget(dailyBudget('u1', 450n, { cadence: 'monthly' }))
    expect(await raised()).toHaveLength(2)
    const scope = { kind: 'user_model', userId: 'u1', modelId: 'small-model' } as const
    await gateway.budget({ ...dailyBudget('u1', 450n), scope })
    expect((await raised()).map(({ scope_key }) => scope_key)).toContain(
      'budget:v1:user:u1:model:small-model',
    )
  })

  test('is raised again in the next window, by the process that raised it in the last one', async () => {
    let now = NOW
    const gateway = replica({ now: () => now })
    await gateway.budget(dailyBudget('u1', 500n))
    for (const at of [NOW, new Date('2026-04-02T00:00:05Z')]) {
      now = at
      await gateway.settle(today({ dispatchedAt: at }))
      await gateway.look()
    }
    const windows = (await raised()).map(({ window_start }) => window_start)
    expect(windows).toEqual(['2026-04-01', '2026-04-02'])
  })

  test('is also raised for a soft limit, and for a charge that a hard limit rejected', async () => {
    const gateway = replica({ users: [person('u1'), person('u2')] })
    await gateway.budget(dailyBudget('u1', 100n, { hardLimit: false }), dailyBudget('u2', 399n))
    await gateway.settle(today())
    await gateway.settle(today({ principal: { ...serviceAccount('s1'), ...userPrincipal('u2') } }))
    await gateway.look()
    expect(await raised()).toMatchObject([
      { scope_key: 'budget:v1:user:u1', spent: '400', remaining: '-300' },
      { scope_key: 'budget:v1:user:u2', spent: '0', remaining: '-1' },
    ])
  })

  test('is raised once by two concurrent replicas, and after a restart', async () => {
    const [one, two] = [replica(), replica()]
    await one.budget(dailyBudget('u1', 500n))
    await one.settle(today())
    await Promise.all([one.look(), two.look()])
    const restarted = replica()
    await restarted.look()
    expect(await raised()).toHaveLength(1)
    expect(await deliveries()).toHaveLength(1)
  })

  test('is raised for more budgets than there are connections to read owners with', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `u${n}`)
    const gateway = replica({
      users: ids.map((id) => person(id)),
      reading: () => database.sql`select pg_sleep(0.05)`,
    })
    const budgets = ids.map((id) => dailyBudget(id, 0n))
    await createBudgetStore(database).changeAll(() => budgets)
    const day = utcDay(NOW)
    await Promise.all(
      budgets.map(({ scope, settings }) => {
        gateway.note([
          { scopeKey: scopeKey(scope), settings, window: { start: day, end: day + 1 } },
        ])
        return gateway.raise()
      }),
    )
    expect(await deliveries()).toHaveLength(ids.length)
  })

  test('that could not be written is raised later, also by another process', async () => {
    const gateway = replica()
    await gateway.budget(dailyBudget('u1', 500n))
    await gateway.settle(today())
    await testDatabase.sql`alter table accounting.budget_alerts rename to away`
    await expect(gateway.look()).rejects.toThrow('budget_alerts')
    await testDatabase.sql`alter table accounting.away rename to budget_alerts`
    await gateway.raise()
    expect(await raised()).toHaveLength(1)
    await testDatabase.sql`truncate accounting.budget_alerts cascade`
    await replica().look()
    expect(await raised()).toHaveLength(1)
  })

  test('that is no longer due when it is written is raised when it is due again', async () => {
    const gateway = replica()
    await gateway.budget(dailyBudget('u1', 500n))
    await gateway.settle(today())
    await gateway.refresh()
    await replica().budget(dailyBudget('u1', 900n))
    await gateway.raise()
    expect(await raised()).toHaveLength(0)
    await gateway.refresh()
    await gateway.settle(today())
    await gateway.look()
    expect(await raised()).toMatchObject([{ spent: '800', remaining: '100' }])
  })

  test('that exists is not checked again in its window', async () => {
    let looked = 0
    const gateway = replica({ reading: async () => void looked++ })
    await gateway.budget(dailyBudget('u1', 500n))
    for (let n = 0; n < 3; n++) {
      await gateway.settle(today())
      await gateway.look()
    }
    expect(looked).toBe(1)
  })
})

describe('the recipients of a service account’s alert', () => {
  const accountBudget: BudgetEntry = {
    ...dailyBudget('x', 500n),
    scope: { kind: 'service_account', serviceAccountId: 's1' },
  }
  const overspend = async (users: readonly User[]) => {
    const gateway = replica({ users })
    await gateway.budget(accountBudget)
    await gateway.settle(today({ principal: serviceAccount('s1') }))
    await gateway.look()
    return await deliveries()
  }

  test('are the active owners and admins of its team', async () => {
    const users = [
      person('owner', { team: team('owner') }),
      person('admin', { team: team('admin') }),
      person('member', { team: team('member') }),
      person('gone', { team: team('owner'), status: 'disabled' }),
      person('invited', { team: team('admin'), status: 'invited' }),
      person('elsewhere', { team: team('owner', 't1') }),
      person('nowhere'),
    ]
    expect((await overspend(users)).map(({ recipient }) => recipient)).toEqual([
      'admin@example.test',
      'owner@example.test',
    ])
  })

  test('without an eligible one, one failed delivery has the reason', async () => {
    const users = [
      person('member', { team: team('member') }),
      person('gone', { team: team('owner'), status: 'disabled' }),
    ]
    expect(await overspend(users)).toEqual([
      {
        recipient: null,
        status: 'failed',
        attempts: 0,
        last_error: expect.stringContaining('no eligible recipient'),
      },
    ])
  })

  test('a disabled user gets no email either', async () => {
    const gateway = replica({ users: [person('u1', { status: 'disabled' })] })
    await gateway.budget(dailyBudget('u1', 0n))
    expect(await deliveries()).toMatchObject([
      { status: 'failed', last_error: 'no eligible recipient: the user is disabled' },
    ])
  })
})

test('the list has the newest alert first, with the worst delivery status and pending deliveries', async () => {
  const users = ['a', 'b', 'c'].map((id) => person(id, { team: team('admin') }))
  const gateway = replica({ users: [...users, person('u1')] })
  const scope = { kind: 'service_account', serviceAccountId: 's1' } as const
  await gateway.budget({ ...dailyBudget('x', 0n), scope })
  await testDatabase.sql`
    update accounting.budget_alert_deliveries set
      sent_at = case recipient when 'b@example.test' then now() end, status = case recipient
      when 'a@example.test' then 'failed' when 'b@example.test' then 'sent' else 'pending' end`
  await gateway.budget(dailyBudget('u1', 0n))
  const { alerts } = await createAlertStore(database).list({}, { limit: 10, offset: 0 })
  expect(
    alerts.map(({ scopeKey, status, deliveries }) => [
      scopeKey,
      status,
      deliveries.map(({ status, next_attempt_at }) => [status, next_attempt_at !== null]),
    ]),
  ).toEqual([
    ['budget:v1:user:u1', 'pending', [['pending', true]]],
    [
      'budget:v1:service_account:s1',
      'failed',
      [
        ['failed', false],
        ['sent', false],
        ['pending', true],
      ],
    ],
  ])
})

describe('a mail', () => {
  test('arrives once at a real server with any number of replicas, and has the remaining amount', async () => {
    const server = await startMailServer()
    const users = [person('u1', { name: 'Ada\r\nBcc: all@example.test' })]
    const replicas = [1, 2, 3].map(() => replica({ users, port: server.port }))
    const [one] = replicas
    const scope = { kind: 'user_model', userId: 'u1', modelId: 'small-model' } as const
    await one?.budget({ ...dailyBudget('u1', 500n), scope })
    await one?.settle(today())
    await one?.look()
    await Promise.all(replicas.map(({ poll }) => poll()))
    await waitIsOver()
    await Promise.all(replicas.map(({ poll }) => poll()))
    await server.stop()
    expect(server.mails).toHaveLength(1)
    const [mail] = server.mails
    expect(mail?.from).toBe('gateway@example.test')
    expect(mail?.to).toEqual(['u1@example.test'])
    expect(mail?.text).toContain('Owner:      Ada Bcc: all@example.test (u1@example.test)')
    expect(mail?.text).toContain(
      'Scope:      model small-model (budget:v1:user:u1:model:small-model)',
    )
    expect(mail?.text).toContain('Window:     daily, 2026-04-01T00:00:00Z to 2026-04-02T00:00:00Z')
    expect(mail?.text).toContain('Spend:      0.0000000004 USD')
    expect(mail?.text).toContain('Remaining:  0.0000000001 USD')
    expect(mail?.text).not.toMatch(/^Bcc:/m)
    expect(await deliveries()).toMatchObject([{ status: 'sent', attempts: 0, last_error: null }])
  })

  test('waits for a server that is down, across a restart, and then arrives', async () => {
    const gone = await startMailServer()
    await gone.stop()
    const before = replica({ port: gone.port })
    await before.budget(dailyBudget('u1', 0n))
    await before.poll()
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, last_error: expect.stringContaining('ECONNREFUSED') },
    ])
    await before.poll()
    expect(await deliveries()).toMatchObject([{ attempts: 1 }])
    await waitIsOver()
    await before.poll()
    const server = await startMailServer({ port: gone.port })
    await waitIsOver()
    const restarted = replica({ port: gone.port })
    await restarted.poll()
    await server.stop()
    expect(server.mails).toHaveLength(1)
    expect(await deliveries()).toMatchObject([{ status: 'sent', attempts: 2, last_error: null }])
  })

  test('is retried five times with growing pauses, and then fails', async () => {
    const gateway = replica({ send: () => Promise.reject(new Error('mailbox full')) })
    await gateway.budget(dailyBudget('u1', 0n))
    const waits: number[] = []
    for (let n = 0; n < 8; n++) {
      await gateway.poll()
      const [row] = await testDatabase.sql`
        select extract(epoch from next_attempt_at - now())::float as secs, status
        from accounting.budget_alert_deliveries`
      if (row?.status === 'pending') waits.push(Math.round(row.secs) * 1000)
      await waitIsOver()
    }
    expect(waits).toEqual([...RETRY_MS])
    // A server that is down for a minute is up again long before.
    expect(RETRY_MS.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(5 * 60_000)
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: 6, last_error: 'mailbox full' },
    ])
  })

  test('whose sender died is sent by another process after the lease', async () => {
    const dying = replica({ send: () => new Promise(() => {}) })
    await dying.budget(dailyBudget('u1', 0n))
    void dying.poll()
    const sent: string[] = []
    const other = replica({ send: async () => void sent.push('mail') })
    await Bun.sleep(50)
    await other.poll()
    expect(sent).toEqual([])
    await waitIsOver()
    await other.poll()
    expect(sent).toEqual(['mail'])
  })

  test('that is refused does not block others, and its error is truncated', async () => {
    const users = [person('u1'), person('u2')]
    const send = async ({ to }: Mail) => {
      if (to === 'u1@example.test') throw new Error('x'.repeat(10_000))
    }
    const gateway = replica({ users, send })
    await gateway.budget(dailyBudget('u1', 0n), dailyBudget('u2', 0n))
    await testDatabase.sql`
      update accounting.budget_alert_deliveries set next_attempt_at = now() - interval '1 minute'
      where recipient = 'u1@example.test'`
    await gateway.poll()
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, last_error: 'x'.repeat(500) },
      { status: 'sent' },
    ])
  })

  test('that is refused with text that Postgres rejects counts as attempted', async () => {
    const gateway = replica({ send: () => Promise.reject(new Error('550 \0no')) })
    await gateway.budget(dailyBudget('u1', 0n))
    await gateway.poll()
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, last_error: '550 no' },
    ])
  })

  test('is sent in batches, the longest due first, until shutdown', async () => {
    const ids = ['u1', 'u2', 'u3', 'u4']
    const sent: string[] = []
    const send = async ({ to }: Mail) => void sent.push(to.slice(0, 2))
    const gateway = replica({ users: ids.map((id) => person(id)), send, batchSize: 2 })
    await gateway.budget(...ids.map((id) => dailyBudget(id, 0n)))
    await testDatabase.sql`
      update accounting.budget_alert_deliveries
      set next_attempt_at = now() - substr(recipient, 2, 1)::integer * interval '1 minute'`
    await gateway.poll()
    expect(sent).toEqual(['u4', 'u3'])
    gateway.close()
    await gateway.poll()
    expect(sent).toEqual(['u4', 'u3'])
  })

  test('is polled no more often than the config allows', async () => {
    const sent: string[] = []
    const send = async ({ to }: Mail) => void sent.push(to)
    const gateway = replica({ send, pollIntervalMs: 60_000 })
    await gateway.poll()
    await gateway.budget(dailyBudget('u1', 0n))
    await gateway.poll()
    expect(sent).toEqual([])
  })

  test('that was sent is recorded after a short database outage', async () => {
    let sent = 0
    const away = () =>
      testDatabase.sql`alter table accounting.budget_alert_deliveries rename to away`
    const send = async () => {
      sent++
      await away()
    }
    const gateway = replica({ send })
    await gateway.budget(dailyBudget('u1', 0n))
    const polled = gateway.poll()
    while (sent === 0) await Bun.sleep(5)
    await Bun.sleep(100)
    await testDatabase.sql`alter table accounting.away rename to budget_alert_deliveries`
    await polled
    expect(await deliveries()).toMatchObject([{ status: 'sent' }])
  })

  test('that cannot be recorded as sent does not delay the shutdown', async () => {
    let sent = 0
    const gateway = replica({ send: async () => void sent++ })
    await gateway.budget(dailyBudget('u1', 0n))
    await testDatabase.sql`
      create function accounting.refuse() returns trigger language plpgsql
      as $$ begin if new.status = 'sent' then raise 'not now'; end if; return new; end $$`
    await testDatabase.sql`
      create trigger refuse before update on accounting.budget_alert_deliveries
      for each row execute function accounting.refuse()`
    try {
      const polled = gateway.poll().then(
        () => 'noted',
        (error) => String(error),
      )
      while (sent === 0) await Bun.sleep(5)
      gateway.close()
      expect(await Promise.race([polled, Bun.sleep(5000)])).toContain('not now')
    } finally {
      await testDatabase.sql`drop function accounting.refuse cascade`
    }
  })

  test('that another process has sent stays sent when the slow attempt fails', async () => {
    const slow = Promise.withResolvers<void>()
    const first = replica({ send: () => slow.promise })
    await first.budget(dailyBudget('u1', 0n))
    const polled = first.poll()
    await Bun.sleep(50)
    await waitIsOver()
    await replica().poll()
    slow.reject(new Error('too late'))
    await polled
    expect(await deliveries()).toMatchObject([{ status: 'sent', last_error: null }])
  })

  test('with transport log is logged, and counts as sent', async () => {
    const lines: Record<string, unknown>[] = []
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
    const email = { from: 'a@b', poll_interval_secs: 1, batch_size: 1, transport: 'log' } as const
    const mail = { to: 'x@y', subject: 's', text: 't', messageId: '<1@g>' }
    await createMailTransport(email, log).send(mail)
    expect(lines).toMatchObject([{ msg: 'mail', from: 'a@b', to: 'x@y', subject: 's', text: 't' }])
  })
})

function userPrincipal(userId: string) {
  const owner = { userId, email: '', name: '', team: undefined, requestLoggingEnabled: true }
  return {
    owner: { kind: 'user' as const, ...owner },
    ownershipScopeKey: `user:${userId}`,
  }
}
