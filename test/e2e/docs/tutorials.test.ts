import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runPage } from '../../harness/docs-page.ts'
import { startFromEnvironment } from '../../harness/from-environment.ts'
import { freePort } from '../../harness/process.ts'

const MAIN = join(import.meta.dir, '../../../plugins/standard/main.ts')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-tutorials-'))
  // As root, the embedded Postgres runs under another account, which must be able to enter.
  chmodSync(folder, 0o711)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('tutorials/team-budgets.md: a budget is used up, shown and raised', async () => {
  const gateway = await startFromEnvironment({})
  try {
    const [, email = '', password = ''] = await gateway.printed(/^Admin +(\S+), password (\S+)$/m)
    const settings = { GATEWAY: gateway.url, EMAIL: email, PASSWORD: `'${password}'` }
    const { out } = await runPage('tutorials/team-budgets.md', settings, folder)
    expect(out.match(/^status \d+$/gm)).toEqual([
      'status 200',
      'status 200',
      'status 429',
      'status 200',
    ])
    expect(out).toContain('"code":"budget_exceeded"')
    expect(out).toContain('the monthly budget of ben@example.org')
  } finally {
    await gateway.stop()
  }
}, 60_000)

test('tutorials/guardrail-for-agents.md: the gateway and the hook block a command', async () => {
  const settings = { GATEWAY: `"${process.execPath} ${MAIN}"`, BIND: `127.0.0.1:${freePort()}` }
  const { out } = await runPage('tutorials/guardrail-for-agents.md', settings, folder)
  expect(out.match(/"allowed":\w+/g)?.slice(0, 2)).toEqual(['"allowed":true', '"allowed":false'])
  expect(out).toContain('"permissionDecision":"deny"')
}, 90_000)
