import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { type AdminClient, adminClient } from '../../test/harness/admin.ts'
import { ada, eventually } from '../../test/harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../test/harness/process.ts'
import { startMailServer } from './__fixtures__/mail-server.ts'

const BUDGETS = '/api/v1/admin/spend/budgets'
const daily = (amount_usd: string) => ({ cadence: 'daily', amount_usd })
const people = ['ada', 'bob', 'cleo', 'dan'] as const
type Name = (typeof people)[number]

/** `own`: budgets in users' entries. */
const config = (defaults: object, own: Partial<Record<Name, string>> = {}) => ({
  providers: [{ id: 'sim', type: 'simulator' }],
  models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'x' }] }],
  users: people.map((name) => ({
    ...(name === 'ada' ? ada : { name, email: `${name}@example.com` }),
    ...(own[name] !== undefined && { budget: daily(own[name]) }),
  })),
  budgets: { users: defaults },
  budget_alerts: {
    email: {
      from: 'gateway@example.com',
      transport: 'smtp',
      poll_interval_secs: 1,
      smtp: { host: '127.0.0.1', port: mailServer.port, starttls: false },
    },
  },
})
const both = {
  default: daily('10'),
  model_defaults: [{ model: 'm', budget: { cadence: 'monthly', amount_usd: '20' } }],
}

let mailServer: Awaited<ReturnType<typeof startMailServer>>
let gateway: GatewayProcess
let root: AdminClient
let ids: Record<Name, string>

beforeAll(async () => {
  mailServer = await startMailServer()
  gateway = await spawnGateway(config(both, { dan: '7' }))
  root = await adminClient(gateway)
  const sql = postgres(gateway.databaseUrl, { max: 1 })
  const rows = await sql`select id, split_part(email, '@', 1) as name from identity.users`
  await sql.end()
  ids = Object.fromEntries(rows.map(({ name, id }) => [name, id])) as Record<Name, string>
})
afterAll(async () => {
  await gateway.remove()
  await mailServer.stop()
})

interface Item {
  scope_key: string
  active: boolean
  budget_source: string
  settings: { amount_usd: string } | null
}

/**
 * The user budget and the budget for model m of each user: source and amount, with `-` before
 * inactive ones.
 */
async function budgets() {
  const { items } = await root.get<{ items: Item[] }>(`${BUDGETS}?status=all`)
  const of = (key: string) => {
    const item = items.find(({ scope_key }) => scope_key === key)
    if (item === undefined) return 'none'
    return `${item.active ? '' : '-'}${item.budget_source} ${item.settings?.amount_usd ?? ''}`
  }
  return Object.fromEntries(
    people.map((name) => [
      name,
      [of(`budget:v1:user:${ids[name]}`), of(`budget:v1:user:${ids[name]}:model:m`)],
    ]),
  )
}

async function reload(content: Record<string, unknown>) {
  const version = async () =>
    ((await (await fetch(`${gateway.url}/readyz`)).json()) as { config_version: string })
      .config_version
  const before = await version()
  gateway.rewrite(content)
  gateway.signal('SIGHUP')
  await eventually(async () => ((await version()) === before ? undefined : true))
}

async function restart() {
  await gateway.end()
  await gateway.restart()
  root = await adminClient(gateway)
}

const scope = (name: Name) => ({ kind: 'user', user_id: ids[name] })
const modelDefault = 'config_user_model_default 20'

test("administrators' budgets survive restarts and config changes; others follow the config", async () => {
  expect(await budgets()).toEqual({
    ada: ['config_user_default 10', modelDefault],
    bob: ['config_user_default 10', modelDefault],
    cleo: ['config_user_default 10', modelDefault],
    dan: ['config_user_override 7', modelDefault],
  })

  // An administrator sets a budget for Ada, none for Bob, and none for Cleo and the model.
  await root.put(BUDGETS, { scope: scope('ada'), ...daily('99') })
  await root.post(`${BUDGETS}/deactivate`, { scope: scope('bob') })
  const model = { kind: 'user_model', user_id: ids.cleo, model_id: 'm' }
  await root.post(`${BUDGETS}/deactivate`, { scope: model })
  const decided = {
    ada: ['manual 99', modelDefault],
    bob: ['-manual 10', modelDefault],
    cleo: ['config_user_default 10', '-manual 20'],
    dan: ['config_user_override 7', modelDefault],
  }
  expect(await budgets()).toEqual(decided)
  await restart()
  expect(await budgets()).toEqual(decided)

  // The defaults change, and Bob and Dan swap places in the file.
  await reload(config({ ...both, default: daily('11') }, { bob: '3' }))
  expect(await budgets()).toEqual({
    ...decided,
    cleo: ['config_user_default 11', '-manual 20'],
    dan: ['config_user_default 11', modelDefault],
  })
  const warnings = gateway.logs.filter(({ path }) => path === 'users[1].budget')
  expect(warnings).toHaveLength(1)

  // Without defaults, only administrators' budgets are active.
  const removed = {
    ada: ['manual 99', '-config_user_model_default 20'],
    bob: ['-manual 10', '-config_user_model_default 20'],
    cleo: ['-config_user_default 11', '-manual 20'],
    dan: ['-config_user_default 11', '-config_user_model_default 20'],
  }
  await reload(config({}))
  expect(await budgets()).toEqual(removed)
  await restart()
  expect(await budgets()).toEqual(removed)

  // The defaults return, except where an administrator deactivated them.
  await reload(config(both))
  expect(await budgets()).toEqual({
    ada: ['manual 99', modelDefault],
    bob: ['-manual 10', modelDefault],
    cleo: ['config_user_default 10', '-manual 20'],
    dan: ['config_user_default 10', modelDefault],
  })
}, 40_000)

test('an alert of this gateway is emailed and listed', async () => {
  await root.put(BUDGETS, { scope: scope('dan'), ...daily('0') })
  const mail = await eventually(async () => mailServer.mails[0])
  expect(mail).toMatchObject({ from: 'gateway@example.com', to: ['dan@example.com'] })
  const alerts = await eventually(async () => {
    const list = await root.get<{ items: { budget_id: string }[]; total: number }>(
      '/api/v1/admin/spend/budget-alerts?status=sent&owner_kind=user',
    )
    return list.total > 0 ? list : undefined
  })
  expect(alerts).toMatchObject({
    items: [
      {
        scope: scope('dan'),
        owner_name: 'dan',
        status: 'sent',
        threshold_percent: 20,
        amount_usd: '0',
        remaining_usd: '0',
        deliveries: [{ recipient: 'dan@example.com', status: 'sent', attempts: 0 }],
      },
    ],
  })
  for (const [query, total] of [
    ['status=failed', 0],
    ['owner_kind=service_account', 0],
    ['budget_id=01890000-0000-7000-8000-000000000000', 0],
    [`budget_id=${alerts.items[0]?.budget_id}`, 1],
  ]) {
    const path = `/api/v1/admin/spend/budget-alerts?${query}`
    expect(await root.get<{ total: number }>(path)).toMatchObject({ total })
  }
  const refused = await root.refused('GET', '/api/v1/admin/spend/budget-alerts?status=lost')
  expect(refused).toEqual([400, 'invalid_request', expect.stringContaining('status')])
}, 20_000)
