import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { createTestDatabase } from '../../harness/database.ts'
import { createDatabaseProxy } from '../../harness/database-proxy.ts'
import { ada, adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { believable, delayed, startUpstream, type Upstream } from '../../harness/upstream.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname

let upstream: Upstream
let folder: string
let gateway: GatewayProcess
let sql: postgres.Sql

function config(...models: string[]) {
  return {
    plugins: [{ use: 'builtin:*' }, { use: 'builtin:core-git' }],
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: models.map((id) => ({ id, routes: [{ provider: 'up', upstream_model: id }] })),
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-reload-'))
  upstream = await startUpstream()
  upstream.always(delayed(30, believable()))
  gateway = await spawnGateway(config('old'))
  sql = postgres(gateway.databaseUrl, { max: 1 })
})

afterAll(async () => {
  await sql?.end()
  await gateway?.remove()
  await upstream?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function call(model: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

/** Sends calls without a pause, eight at a time, until `stop`, which returns the count of each status. */
function underLoad(model: string) {
  let stopped = false
  const statuses = new Map<number, number>()
  const callers = Array.from({ length: 8 }, async () => {
    while (!stopped) {
      const status = await call(model)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  return {
    /** Resolves after that many more answers. */
    async answers(count: number) {
      const answered = () => [...statuses.values()].reduce((sum, each) => sum + each, 0)
      const before = answered()
      await eventually(async () => (answered() >= before + count ? true : undefined), 15_000)
    },
    async stop() {
      stopped = true
      await Promise.all(callers)
      return Object.fromEntries(statuses)
    },
  }
}

function logged(text: string, { logs } = gateway, since = 0, withinMs = 5000) {
  return eventually(
    async () => logs.slice(since).find(({ msg }) => String(msg).includes(text)),
    withinMs,
  )
}

async function configVersions(): Promise<string[]> {
  const rows = await sql`select distinct config_version from request_log.request_logs`
  return rows.map((row) => row.config_version)
}

test('SIGHUP under load: a good file is swapped in, a bad one refused, no request fails', async () => {
  const load = underLoad('old')
  await load.answers(25)

  gateway.rewrite(config('old', 'new'))
  gateway.signal('SIGHUP')
  const { config_version } = await logged('the new config is active')
  expect(await call('new')).toBe(200)

  gateway.rewrite({
    ...config('old'),
    models: [{ id: 'old', routes: [{ provider: 'gone' }] }, { id: 'old' }],
  })
  gateway.signal('SIGHUP')
  const refusal = await logged('the new config was rejected')
  expect(String(refusal.msg)).toContain('models[0].routes[0].provider')
  expect(String(refusal.msg)).toContain('models[1]')
  expect(await call('new')).toBe(200)

  await load.answers(25)
  expect(Object.keys(await load.stop())).toEqual(['200'])
  const versions = await eventually(async () => {
    const found = await configVersions()
    return found.length === 2 ? found : undefined
  })
  expect(versions).toContain(config_version as string)
}, 30_000)

test.each([{ isolation: 'worker' }, { on_boot_failure: 'disable' }, { config: {} }])(
  'SIGHUP: another setting of a plugin (%o) needs a restart',
  async (change) => {
    const before = gateway.logs.length
    const plugins = [{ use: 'builtin:*' }, { use: 'builtin:core-git', ...change }]
    gateway.rewrite({ ...config('old'), plugins })
    gateway.signal('SIGHUP')
    const refusal = await logged('the new config was rejected', gateway, before)
    expect(String(refusal.msg)).toContain(
      'changes to plugins, their config or their isolation need a restart',
    )
    expect(await call('old')).toBe(200)
  },
)

test('SIGHUP while the database is unreachable takes effect once it is back', async () => {
  const database = await createTestDatabase('started')
  const proxy = await createDatabaseProxy(database.url)
  const cut = await spawnGateway(config('old'), { databaseUrl: proxy.url })
  try {
    proxy.refuse()
    cut.rewrite(config('old', 'new'))
    cut.signal('SIGHUP')
    await logged('reloading the config failed', cut, 0, 20_000)
    proxy.pass()
    await logged('the new config is active', cut, 0, 20_000)
  } finally {
    await cut.remove()
    proxy.close()
    await database.drop()
  }
}, 60_000)

test('SIGHUP: keys that need a restart are applied with a warning that names them', async () => {
  const before = gateway.logs.length
  gateway.rewrite({ ...config('old'), server: { max_body_bytes: 500, log_format: 'pretty' } })
  gateway.signal('SIGHUP')
  const warning = await logged('restart', gateway, before)
  expect(warning).toMatchObject({ level: 40 })
  expect(String(warning.msg)).toContain('server.log_format, server.max_body_bytes')
  expect(String(warning.msg)).not.toContain('database.url')
  await logged('the new config is active', gateway, before)
})

test('SIGHUP: a reload that one part refuses has changed nothing in another', async () => {
  const before = gateway.logs.length
  const users = [{ ...ada, name: 'Ada of the refused file' }]
  gateway.rewrite({ ...config('old'), users, accounting: { spool_dir: join(folder, 'spool') } })
  gateway.signal('SIGHUP')
  const refusal = await logged('the new config was rejected', gateway, before)
  expect(String(refusal.msg)).toContain('accounting.spool_dir')
  expect(await sql`select name from identity.users`).not.toContainEqual({ name: users[0]?.name })
})

test('SIGHUP: a reload that the database refuses, for a key of another owner, has set no prices', async () => {
  const before = gateway.logs.length
  const { api_keys, ...withoutKey } = ada
  gateway.rewrite({
    ...config('old'),
    users: [withoutKey, { name: 'Bob', email: 'bob@example.com', api_keys }],
    pricing: {
      overrides: [{ pricing_provider_id: 'mine', model: 'old', input_usd_per_million: '1' }],
    },
  })
  gateway.signal('SIGHUP')
  const refusal = await logged('the new config was rejected', gateway, before)
  expect(String(refusal.msg)).toContain('users[1].api_keys[0].value')
  const prices = await sql`
    select model from pricing_catalog.model_pricing where pricing_provider_id = 'mine'`
  expect(prices).toHaveLength(0)
})

test.each([
  ['missing', rmSync, 'cannot be read'],
  [
    'empty, as at the beginning of a copy,',
    (file: string) => writeFileSync(file, '\n'),
    'is empty',
  ],
])(
  'SIGHUP while ./gateway.yaml is %s is refused, and the config stays',
  async (_, spoil, why) => {
    const file = join(folder, 'gateway.yaml')
    const server = { bind: '127.0.0.1:0', log_format: 'json' }
    writeFileSync(file, JSON.stringify({ ...config('old'), server }))
    const child = Bun.spawn([process.execPath, MAIN, 'serve'], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: gateway.databaseUrl },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    try {
      const lines = linesOf(child.stderr)
      const { url, config_version } = await lines('the gateway is serving')
      spoil(file)
      child.kill('SIGHUP')
      const { msg } = await lines('the new config was rejected')
      expect(String(msg)).toContain(`the config file ${file} ${why}`)
      const ready = await fetch(`${url}/readyz`)
      expect(await ready.json()).toMatchObject({ config_version })
    } finally {
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
    }
  },
  30_000,
)

test('SIGHUP during the start is obeyed as soon as the gateway serves', async () => {
  const file = join(folder, 'hasty.ts')
  writeFileSync(
    file,
    `process.kill(process.pid, 'SIGHUP')
    export default {
      manifest: {
        id: 'plugin.hasty', version: '1.0.0', contract: 1, summary: 'Hasty.', needs: [],
        config: { type: 'object', properties: {}, [Symbol.for('TypeBox.Kind')]: 'Object' },
      },
      setup() {},
    }`,
  )
  const plugins = [{ use: 'builtin:*' }, { use: file }]
  const hasty = await spawnGateway({ ...config('old'), plugins })
  try {
    await logged('the new config is active', hasty)
  } finally {
    await hasty.remove()
  }
}, 30_000)

test('what an admin revoked stays revoked over reload and restart', async () => {
  await sql`update identity.api_keys set revoked_at = now()`
  await eventually(async () => ((await call('old')) === 401 ? true : undefined))
  gateway.rewrite({ ...config('old'), users: [{ ...ada, name: 'Ada Lovelace' }] })
  gateway.signal('SIGHUP')
  await eventually(async () => {
    const [user] = await sql`select name from identity.users where email = ${ada.email}`
    return user?.name === 'Ada Lovelace' ? true : undefined
  })
  expect(await call('old')).toBe(401)

  const restarted = await spawnGateway(config('old'), { databaseUrl: gateway.databaseUrl })
  try {
    const response = await fetch(`${restarted.url}/v1/models`, {
      headers: { authorization: `Bearer ${adaKey}` },
    })
    expect(response.status).toBe(401)
  } finally {
    await restarted.remove()
  }
}, 30_000)

/** Reads a gateway's log until a line has this message, each time from where it stopped. */
function linesOf(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let text = ''
  return async (wanted: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const end = text.indexOf('\n')
      if (end === -1) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`the gateway ended without "${wanted}": ${text}`)
        text += decoder.decode(value)
        continue
      }
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      if (line.includes(wanted)) return JSON.parse(line)
    }
  }
}
