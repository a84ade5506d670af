import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMailServer } from '../../../plugins/accounting/__fixtures__/mail-server.ts'
import { adminClient } from '../../harness/admin.ts'
import { certify, MAY_SIGN } from '../../harness/certificate.ts'
import { eventually } from '../../harness/gateway.ts'
import { spawnGateway } from '../../harness/process.ts'

const PASSWORD = 'CANARYmail42'

let folder: string
let withTls: Awaited<ReturnType<typeof startMailServer>>
let without: Awaited<ReturnType<typeof startMailServer>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-mail-tls-'))
  certify(folder, 'ca', MAY_SIGN)
  const tls = certify(folder, 'mail', 'subjectAltName=IP:127.0.0.1', 'ca')
  withTls = await startMailServer({ tls, password: PASSWORD })
  without = await startMailServer()
})
afterAll(async () => {
  await withTls.stop()
  await without.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Alerts {
  readonly items: readonly {
    deliveries: readonly { status: string; attempts: number; last_error: unknown }[]
  }[]
}

/** Raises an alert, and resolves to what is said of its mail after the first attempt. */
async function alert(port: number, env: Record<string, string>) {
  await using started = new AsyncDisposableStack()
  const gateway = await spawnGateway(
    {
      providers: [{ id: 'sim', type: 'simulator' }],
      models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'demo-1' }] }],
      budget_alerts: {
        email: {
          transport: 'smtp',
          from: 'gateway@example.com',
          poll_interval_secs: 1,
          smtp: { host: '127.0.0.1', port, username: 'gate', password: 'env.MAIL_PASSWORD' },
        },
      },
    },
    { env: { MAIL_PASSWORD: PASSWORD, ...env } },
  )
  started.defer(gateway.remove)
  const admin = await adminClient(gateway)
  const scope = { kind: 'user', user_id: admin.userId }
  // A budget of nothing has nothing left.
  const budget = { scope, cadence: 'monthly', amount_usd: '0' }
  await admin.put('/api/v1/admin/spend/budgets', budget)
  const delivery = await eventually(async () => {
    const { items } = await admin.get<Alerts>('/api/v1/admin/spend/budget-alerts')
    return items[0]?.deliveries.find(({ status, attempts }) => status === 'sent' || attempts > 0)
  }, 20_000)
  expect(JSON.stringify(gateway.logs)).not.toContain(PASSWORD)
  return delivery
}

test('a mail goes over TLS to a server whose authority is known, by who has signed in', async () => {
  const trusted = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  expect(await alert(withTls.port, trusted)).toMatchObject({ status: 'sent', last_error: null })
  expect(withTls.mails.map(({ user }) => user)).toEqual(['gate'])
}, 60_000)

test('no mail and no password goes to a server that nobody vouches for, or that has no TLS', async () => {
  const before = withTls.mails.length
  const unknown = await alert(withTls.port, { NODE_EXTRA_CA_CERTS: '' })
  expect(unknown.last_error).toMatch(/certificate/)
  expect((await alert(without.port, {})).last_error).toMatch(/STARTTLS|TLS/)
  expect([withTls.mails.length, without.mails.length]).toEqual([before, 0])
}, 60_000)
