import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { spawnGateway } from '../../harness/process.ts'
import { chat, pluginFolder, simulated } from './plugin-files.fixture.ts'

test('what a plugin lets go wrong beside every call is in the log, line by line, and the gateway serves', async () => {
  const files = pluginFolder()
  const use = files.plugin('stray', {
    setup: `ctx.provide(middleware, {
      id: 'stray', around: 'decode',
      async handle(_, next) {
        setTimeout(() => { throw new Error('thrown astray') }, 1)
        void Promise.reject(new Error('rejected astray'))
        await next()
      },
    })`,
  })
  const gateway = await spawnGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, { use }] })
  try {
    const call = async () => {
      const headers = { authorization: `Bearer ${adaKey}` }
      const url = `${gateway.url}/v1/chat/completions`
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(chat) })).status
    }
    expect(await call()).toBe(200)
    const astray = () => gateway.logs.filter((line) => JSON.stringify(line).includes('astray'))
    await eventually(async () => (astray().length > 1 ? true : undefined))
    for (const line of astray()) {
      expect(line).toMatchObject({ level: 50, msg: 'unhandled error' })
    }
    expect(await call()).toBe(200)
    expect(await gateway.end()).toBe(0)
  } finally {
    await gateway.remove()
    files.remove()
  }
}, 60_000)

test('what a plugin lets go wrong beside its set-up is in the log too', async () => {
  const files = pluginFolder()
  const use = files.plugin('early', {
    setup: `
      setTimeout(() => { throw new Error('thrown astray') }, 1)
      void Promise.reject(new Error('rejected astray'))
      return Bun.sleep(50).then(() => undefined)`,
  })
  const gateway = await spawnGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, { use }] })
  try {
    const astray = gateway.logs.filter((line) => JSON.stringify(line).includes('astray'))
    expect(astray).toMatchObject([
      { level: 50, msg: 'unhandled error' },
      { level: 50, msg: 'unhandled error' },
    ])
    expect(await gateway.end()).toBe(0)
  } finally {
    await gateway.remove()
    files.remove()
  }
}, 60_000)

test('looks at the database that the end breaks off are no outage', async () => {
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

test('a welcome that hangs keeps nobody from reloading and ending the gateway, and the next one is told', async () => {
  const files = pluginFolder()
  const hangs = files.plugin('speechless', {
    setup: `ctx.provide(kit.welcome, { lines: () => new Promise(() => {}) })`,
  })
  const next = files.plugin('next', {
    setup: `ctx.provide(kit.welcome, { async lines() { ctx.log.warn('asked'); return [] } })`,
  })
  const config = { ...simulated, plugins: [{ use: 'builtin:*' }, { use: hangs }, { use: next }] }
  const gateway = await spawnGateway(config)
  const logged = (part: object) => {
    const fits = (line: Record<string, unknown>) =>
      Object.entries(part).every(([key, is]) => line[key] === is)
    return eventually(async () => gateway.logs.find(fits), 20_000)
  }
  try {
    gateway.rewrite({ ...config, request_logging: {} })
    gateway.signal('SIGHUP')
    await logged({ msg: 'the new config is active' })
    await logged({
      plugin: 'plugin.speechless',
      msg: 'the plugin failed to write its start-up message',
    })
    await logged({ plugin: 'plugin.next', msg: 'asked' })
    expect(await gateway.end()).toBe(0)
  } finally {
    await gateway.remove()
    files.remove()
  }
}, 60_000)
