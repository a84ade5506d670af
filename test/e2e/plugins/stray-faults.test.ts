import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { chat, pluginFolder, simulated } from './plugin-files.fixture.ts'

describe('a gateway with plugins whose faults nothing catches', () => {
  const files = pluginFolder()
  const early = files.plugin('early', {
    setup: `
      setTimeout(() => { throw new Error('thrown at set-up') }, 1)
      void Promise.reject(new Error('rejected at set-up'))
      return Bun.sleep(50).then(() => undefined)`,
  })
  const stray = files.plugin('stray', {
    setup: `ctx.provide(middleware, {
      id: 'stray', around: 'decode',
      async handle(_, next) {
        setTimeout(() => { throw new Error('thrown in a call') }, 1)
        void Promise.reject(new Error('rejected in a call'))
        await next()
      },
    })`,
  })
  const hangs = files.plugin('speechless', {
    setup: `ctx.provide(kit.welcome, { lines: () => new Promise(() => {}) })`,
  })
  const next = files.plugin('next', {
    setup: `ctx.provide(kit.welcome, { async lines() { ctx.log.warn('asked'); return [] } })`,
  })
  const plugins = ['builtin:*', early, stray, hangs, next].map((use) => ({ use }))
  const config = { ...simulated, plugins }
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await spawnGateway(config)
  }, 60_000)
  afterAll(async () => {
    await gateway?.remove()
    files.remove()
  })

  const containing = (text: string) =>
    gateway.logs.filter((line) => JSON.stringify(line).includes(text))
  const fault = { level: 50, msg: 'unhandled error' }

  test('logs each fault of a set-up', () => {
    expect(containing('at set-up')).toMatchObject([fault, fault])
  })

  test('logs each fault of a call, and goes on serving', async () => {
    const call = async () => {
      const headers = { authorization: `Bearer ${adaKey}` }
      const url = `${gateway.url}/v1/chat/completions`
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(chat) })).status
    }
    expect(await call()).toBe(200)
    const found = await eventually(async () => {
      const lines = containing('in a call')
      return lines.length > 1 ? lines : undefined
    })
    expect(found).toMatchObject([fault, fault])
    expect(await call()).toBe(200)
  })

  test('reloads and ends while the welcome of a plugin hangs, and then asks the next plugin', async () => {
    const logged = (part: object) => {
      const fits = (line: Record<string, unknown>) =>
        Object.entries(part).every(([key, is]) => line[key] === is)
      return eventually(async () => gateway.logs.find(fits), 20_000)
    }
    gateway.rewrite({ ...config, request_logging: {} })
    gateway.signal('SIGHUP')
    await logged({ msg: 'the new config is active' })
    await logged({
      plugin: 'plugin.speechless',
      msg: 'the plugin failed to write its start-up message',
    })
    await logged({ plugin: 'plugin.next', msg: 'asked' })
    expect(await gateway.end()).toBe(0)
  }, 60_000)
})

test('queries that the end of the gateway interrupts are not logged as an outage', async () => {
  const gateway = await spawnGateway(simulated)
  const sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const code = await sql.begin(async (holding) => {
      await holding`lock identity.revision, mcp_registry.revision in access exclusive mode`
      await eventually(async () => {
        const [row] = await holding`select count(*)::int as count from pg_locks where not granted`
        return row?.count >= 2 ? true : undefined
      })
      return await gateway.end()
    })
    expect(code).toBe(0)
    expect(gateway.logs.filter(({ level }) => Number(level) > 30)).toEqual([])
  } finally {
    await sql.end()
    await gateway.remove()
  }
}, 60_000)
