import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../plugins/accounting/__fixtures__/mail-server.ts'
import { type AdminClient, adminClient } from '../harness/admin.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { REST_SECS } from './size.ts'

/**
 * What becomes of alerts while the mail server is away:
 *
 *     bun test ./test/long/mail.long.ts
 */
const DOWN_MS = REST_SECS * 1_000
const PEOPLE = 12
const ALERTS = '/api/v1/admin/spend/budget-alerts?page_size=200'

let server: Awaited<ReturnType<typeof startMailServer>>
const gateways: GatewayProcess[] = []
let admin: AdminClient
let people: readonly AdminClient[]

beforeAll(async () => {
  server = await startMailServer()
  const smtp = { host: '127.0.0.1', port: server.port, starttls: false }
  const email = { transport: 'smtp', from: 'gateway@example.com', poll_interval_secs: 1, smtp }
  const config = {
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'demo-1' }] }],
    budget_alerts: { email },
  }
  const first = await spawnGateway(config)
  gateways.push(first, await spawnGateway(config, { databaseUrl: first.databaseUrl }))
  admin = await adminClient(first)
  people = await Promise.all(
    Array.from({ length: PEOPLE }, (_, n) =>
      adminClient(first, { email: `person${n}@example.com`, role: 'user' }),
    ),
  )
}, 120_000)

afterAll(async () => {
  for (const gateway of gateways.toReversed()) await gateway.remove()
  await server.stop()
}, 60_000)

/** A budget of nothing has nothing left. */
async function useUp(some: readonly AdminClient[]): Promise<void> {
  for (const { userId } of some) {
    const scope = { kind: 'user', user_id: userId }
    await admin.put('/api/v1/admin/spend/budgets', { scope, cadence: 'monthly', amount_usd: '0' })
  }
}

interface Alerts {
  readonly items: readonly {
    readonly deliveries: readonly {
      readonly recipient: string | null
      readonly status: string
      readonly attempts: number
    }[]
  }[]
}

async function deliveries() {
  const { items } = await admin.get<Alerts>(ALERTS)
  return items.flatMap((item) => item.deliveries)
}

async function until(ready: () => Promise<boolean>, ms: number): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await ready())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms`)
    await Bun.sleep(200)
  }
}

const recipients = () => server.mails.flatMap(({ to }) => to).sort()
const emails = (some: readonly AdminClient[]) => some.map(({ email }) => email).sort()

test('a mail server that was down gets every alert once when it is back', async () => {
  const early = people.slice(0, 2)
  await useUp(early)
  await until(async () => (await deliveries()).every(({ status }) => status === 'sent'), 20_000)
  expect(recipients()).toEqual(emails(early))

  const received = server.mails
  await server.stop()
  const stopped = performance.now()
  await useUp(people.slice(2, 8))
  const tried = async () => (await deliveries()).filter(({ attempts }) => attempts > 0).length
  await until(async () => (await tried()) === 6, 20_000)
  // Whoever has tried before need not be the one who tries again.
  const [, second] = gateways
  expect(await second?.end()).toBe(0)
  await second?.restart()
  await Bun.sleep(DOWN_MS / 2 - (performance.now() - stopped))
  await useUp(people.slice(8))
  await Bun.sleep(DOWN_MS - (performance.now() - stopped))
  expect((await deliveries()).filter(({ status }) => status === 'sent')).toHaveLength(2)

  server = await startMailServer({ port: server.port })
  server.mails.push(...received)
  const back = performance.now()
  await until(async () => (await deliveries()).every(({ status }) => status === 'sent'), 180_000)
  const waited = Math.round((performance.now() - back) / 1000)
  // Longer than anybody waits before the next look.
  await Bun.sleep(5_000)
  expect(recipients()).toEqual(emails(people))
  expect(await deliveries()).toHaveLength(PEOPLE)
  const tries = (await deliveries()).map(({ attempts }) => attempts)
  console.log(
    `${PEOPLE} alerts, ${PEOPLE - 2} of them while the server was down for ${DOWN_MS / 1000} s: ` +
      `all there ${waited} s after it was back, after at most ${Math.max(...tries)} failed tries`,
  )
}, 400_000)
