import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminPassword } from '../../harness/admin.ts'
import { runPage } from '../../harness/docs-page.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const email = 'you@example.com'

let gateway: TestGateway
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
    auth: { bootstrap_admin: { email, password: `literal.${adminPassword}` } },
  })
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('every command of docs/admin.md works as it is written', async () => {
  const own = {
    GATEWAY: gateway.url,
    EMAIL: email,
    PASSWORD: `'${adminPassword}'`,
  }
  const { out, commands } = await runPage('admin.md', own, folder)
  expect(out).toContain('"actor_email":"you@example.com"')
  expect(commands.match(/\b(call|curl) /g)?.length).toBeGreaterThan(15)
}, 20_000)
