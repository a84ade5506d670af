import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { ended } from '../../harness/ended.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-admin-cli-'))
  // As root, Postgres runs under another account, which has to pass through.
  chmodSync(folder, 0o711)
  database = await createTestDatabase('started')
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

function start(args: string[], env: Record<string, string | undefined> = {}, input = '') {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function run(...given: Parameters<typeof start>) {
  const child = start(...given)
  return await ended(child)
}

test('gateway openapi prints the committed document, needs no database and leaves nothing', async () => {
  const { out, code } = await run(['openapi'], { DATABASE_URL: undefined })
  expect(code).toBe(0)
  const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')
  if (out !== committed) {
    throw new Error('openapi.json is not what the gateway prints; write it again: bun run openapi')
  }
  expect(Array.from(new Bun.Glob('**').scanSync({ cwd: folder, dot: true }))).toEqual([])
}, 30_000)

test('gateway admin create takes the password from the environment or standard input', async () => {
  const args = ['admin', 'create', '--email', 'root@example.com']
  const env = { DATABASE_URL: database.url, GATEWAY_ADMIN_PASSWORD: undefined }
  const byInput = await run(args, env, 'typed horse battery\n')
  expect([byInput.code, byInput.out]).toEqual([
    0,
    'root@example.com is a platform admin and can sign in\n',
  ])
  const hashOf = async () => {
    const [row] = await database.sql`select hash from identity.user_passwords`
    return row?.hash as string
  }
  expect(await Bun.password.verify('typed horse battery', await hashOf())).toBe(true)
  const password = 'environment horse battery'
  const byEnv = await run(args, { ...env, GATEWAY_ADMIN_PASSWORD: password })
  expect(byEnv.code).toBe(0)
  expect(await Bun.password.verify(password, await hashOf())).toBe(true)
  const log = await database.sql`select action, actor_email, request_id from audit_log.audit_log`
  const entry = { action: 'user.make_admin', actor_email: null, request_id: 'command:admin-create' }
  expect([...log]).toEqual([entry, entry])

  const none = await run(args, env, '')
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('the password is missing')])
}, 30_000)

test('a quick start prints an admin sign-in that works', async () => {
  await database.sql`delete from identity.user_passwords`
  const child = start([], { GATEWAY_BIND: '127.0.0.1:0', DATABASE_URL: database.url })
  try {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk)
      if (text.includes('/docs')) break
    }
    const [, email, password] = /Admin +(\S+), password (\S+)/.exec(text) ?? []
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
    const login = await fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { origin: url as string, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    expect(login.status).toBe(200)
    expect(await login.json()).toMatchObject({ data: { user: { role: 'platform_admin' } } })
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}, 30_000)
