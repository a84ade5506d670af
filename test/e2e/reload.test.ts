import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { ada, adaKey, eventually } from '../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { believable, delayed, startUpstream, type Upstream } from '../harness/upstream.ts'

let upstream: Upstream
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
  upstream = await startUpstream()
  upstream.always(delayed(30, believable()))
  gateway = await spawnGateway(config('old'))
  sql = postgres(gateway.databaseUrl, { max: 1 })
})

afterAll(async () => {
  await sql?.end()
  await gateway?.remove()
  await upstream?.stop()
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

/** Calls without a pause, eight at a time, until it is stopped; every status that came. */
function underLoad(model: string) {
  let stopped = false
  const statuses = new Map<number, number>()
  const callers = Array.from({ length: 8 }, async () => {
    while (!stopped) {
      const status = await call(model)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  return async () => {
    stopped = true
    await Promise.all(callers)
    return Object.fromEntries(statuses)
  }
}

function logged(text: string) {
  return eventually(async () => gateway.logs.find(({ msg }) => String(msg).includes(text)))
}

async function configVersions(): Promise<string[]> {
  const rows = await sql`select distinct config_version from request_log.request_logs`
  return rows.map((row) => row.config_version)
}

test('SIGHUP under load: a good file is swapped in, a bad one refused, no request fails', async () => {
  const stop = underLoad('old')
  await Bun.sleep(200)

  gateway.rewrite(config('old', 'new'))
  gateway.signal('SIGHUP')
  const { configVersion } = await logged('another config is in force')
  expect(await call('new')).toBe(200)

  gateway.rewrite({
    ...config('old'),
    models: [{ id: 'old', routes: [{ provider: 'gone' }] }, { id: 'old' }],
  })
  gateway.signal('SIGHUP')
  const refusal = await logged('the config was refused')
  expect(String(refusal.msg)).toContain('models[0].routes[0].provider')
  expect(String(refusal.msg)).toContain('models[1]')
  expect(await call('new')).toBe(200)

  await Bun.sleep(200)
  const statuses = await stop()
  expect(Object.keys(statuses)).toEqual(['200'])
  expect(statuses['200']).toBeGreaterThan(50)
  const versions = await eventually(async () => {
    const found = await configVersions()
    return found.length === 2 ? found : undefined
  })
  expect(versions).toContain(configVersion as string)
}, 30_000)

test.each([{ isolation: 'worker' }, { on_boot_failure: 'disable' }, { config: {} }])(
  'SIGHUP: a plugin that is to run another way (%o) needs a restart',
  async (change) => {
    const before = gateway.logs.length
    const plugins = [{ use: 'builtin:*' }, { use: 'builtin:core-git', ...change }]
    gateway.rewrite({ ...config('old'), plugins })
    gateway.signal('SIGHUP')
    const refusal = await eventually(async () =>
      gateway.logs.slice(before).find(({ msg }) => String(msg).includes('the config was refused')),
    )
    expect(String(refusal.msg)).toContain(
      'another list of plugins, or another setting of one, needs a restart',
    )
    expect(await call('old')).toBe(200)
  },
)

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
