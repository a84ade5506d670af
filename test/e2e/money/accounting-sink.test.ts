import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, startTestGateway } from '../../harness/gateway.ts'
import { startUpstream } from '../../harness/upstream.ts'
import { chat, pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'

test('a sink receives every committed call, cannot change it, and its faults affect nothing else', async () => {
  const files = pluginFolder()
  const out = join(files.folder, 'out.jsonl')
  const use = files.plugin('sink', {
    head: `import { appendFileSync } from 'node:fs'`,
    setup: `
      let count = 0
      ctx.provide(accountingSinks, {
        async record(call, settlement) {
          await Bun.sleep(50)
          appendFileSync(${JSON.stringify(out)}, JSON.stringify({ call, settlement }, (_, v) => typeof v === 'bigint' ? String(v) : v) + '\\n')
          count++
          settlement.costPicoUsd = 0n
        },
      })`,
  })
  const gateway = await startTestGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, { use }] })
  try {
    for (let i = 0; i < 3; i++) {
      expect((await gateway.post('/v1/chat/completions', chat)).status).toBe(200)
    }
    const streamed = await gateway.post('/v1/chat/completions', { ...chat, stream: true })
    expect(await streamed.text()).toContain('[DONE]')
    expect((await gateway.post('/v1/chat/completions', { ...chat, model: 'no' })).status).toBe(404)
    await eventually(async () => (existsSync(out) ? true : undefined))
  } finally {
    // Sinks receive the waiting calls before the plugins are stopped.
    await gateway.stop()
  }
  const lines = readFileSync(out, 'utf8').trim().split('\n')
  expect(lines).toHaveLength(4)
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({
      call: {
        caller: { owner: { email: 'ada@example.com' } },
        resolvedModel: 'm',
        provider: 'sim',
      },
      settlement: { kind: 'ledger', pricingStatus: 'priced' },
    })
    expect(JSON.parse(line).settlement.costPicoUsd).not.toBe('0')
  }
  expect(gateway.logs.filter(({ msg }) => msg === 'an accounting sink failed')).toMatchObject([
    { sink: 'plugin.sink', failure: 'threw' },
  ])
  files.remove()
})

test('a sink receives a call whose stream ends after the gateway has stopped listening', async () => {
  const files = pluginFolder()
  const out = join(files.folder, 'out')
  const use = files.plugin('slow-sink', {
    head: `import { writeFileSync } from 'node:fs'`,
    setup: `
      ctx.provide(accountingSinks, {
        async record(call) {
          await Bun.sleep(1500)
          writeFileSync(${JSON.stringify(out)}, call.requestedModel)
        },
      })`,
  })
  const upstream = await startUpstream()
  const closing = Promise.withResolvers<void>()
  upstream.always(async (x) => {
    const chunk = (delta: object, finish: string | null, usage?: object) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], usage })}\n\n`
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write(chunk({ content: 'hi' }, null))
    await closing.promise
    await x.write(chunk({}, 'stop', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }))
    await x.write('data: [DONE]\n\n')
    await x.end()
  })
  const gateway = await startTestGateway({
    server: { shutdown_grace_secs: 0 },
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    plugins: [{ use: 'builtin:*' }, { use }],
  })
  try {
    const reply = await gateway.post('/v1/chat/completions', { ...chat, stream: true })
    const reading = reply.text().catch(() => {})
    const stopping = gateway.stop()
    await reading
    closing.resolve()
    await stopping
    expect(existsSync(out)).toBe(true)
  } finally {
    await upstream.stop()
    files.remove()
  }
})

test.each([
  ['throws', `record() { throw new Error('planted') }`],
  ['rejects', `async record() { await Bun.sleep(1); throw new Error('planted') }`],
])(
  'a recorder that %s is logged with its plugin, and the other recorders are called',
  async (how, record) => {
    const files = pluginFolder()
    const use = files.plugin(`recorder-${how}`, {
      setup: `ctx.provide(kit.exchangeRecorders, { ${record} })`,
    })
    const gateway = await startTestGateway({
      ...simulated,
      plugins: [{ use }, { use: 'builtin:*' }],
    })
    try {
      expect((await gateway.post('/v1/chat/completions', chat)).status).toBe(200)
      const failed = () => gateway.logs.filter(({ msg }) => msg === 'a recorder failed')
      await eventually(async () => (failed().length > 0 ? true : undefined))
      expect(failed()).toMatchObject([
        { plugin: `plugin.recorder-${how}`, err: { message: 'planted' } },
      ])
      expect(failed()[0]?.request_id).toBeString()
      await eventually(async () => {
        const rows = await gateway.sql`select 1 from request_log.request_logs`
        return rows.length === 1 ? true : undefined
      })
    } finally {
      await gateway.stop()
      files.remove()
    }
  },
)
