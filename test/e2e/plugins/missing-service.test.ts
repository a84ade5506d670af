import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { ended } from '../../harness/ended.ts'
import { ada } from '../../harness/gateway.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname
const PASSWORD = 'correct horse battery'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-missing-'))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command with a config that loads these built-ins and no others. */
async function run(command: string, builtins: readonly string[], sections: object) {
  const file = join(folder, 'gateway.yaml')
  const plugins = builtins.map((name) => ({ use: `builtin:${name}` }))
  const server = { bind: '127.0.0.1:0', ungoverned: true }
  writeFileSync(file, stringify({ server, plugins, ...sections }))
  const child = Bun.spawn([process.execPath, MAIN, ...command.split(' '), '--config', file], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: database.url, GATEWAY_ADMIN_PASSWORD: PASSWORD },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { out, err, code } = await ended(child)
  return { code, out, errors: err.replaceAll(/^\{"level":[34]0.*\n/gm, '') }
}

/** What the commands make. */
async function changes() {
  const [identity] = await database.sql`select to_regclass('identity.users') as is_there`
  if (identity?.is_there === null) return []
  return await database.sql`
    select email as made from identity.users where role = 'platform_admin'
    union all select name from identity.api_keys where name = 'created by command'`
}

const root = { email: 'root@example.com', password: `literal.${PASSWORD}` }
const people = ['identity']
const withoutLog =
  'plugin "plugin.identity" (builtin:identity) uses audit_trail, which no loaded plugin provides — add builtin:audit-log to plugins\n'
test.each([
  ['keys create --user ada@example.com --all-models', people, {}, withoutLog],
  ['admin create --email root@example.com', people, {}, withoutLog],
  ['serve', people, { auth: { bootstrap_admin: root } }, withoutLog],
  [
    'serve',
    ['simulator'],
    { users: undefined },
    'gateway: no plugin provides identity, which this command needs: add builtin:identity to plugins\n',
  ],
] as const)(
  '%s with only the built-ins %p says which one it lacks, and changes nothing',
  async (command, builtins, sections, message) => {
    const { code, out, errors } = await run(command, builtins, { users: [ada], ...sections })
    expect([code, out]).toEqual([1, ''])
    expect(errors).toContain(message)
    expect(await changes()).toEqual([])
  },
)

test('pages over tables of another plugin are not served without it', async () => {
  const builtins = ['identity', 'audit-log', 'accounting', 'pricing-catalog', 'observability']
  const { code, out } = await run('check-config', builtins, {})
  expect(code).toBe(1)
  expect(out).toContain(
    'plugin "plugin.observability" (builtin:observability) requires plugin "plugin.request-log", which is not loaded',
  )
})
