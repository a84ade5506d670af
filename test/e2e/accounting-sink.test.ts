import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, startTestGateway } from '../harness/gateway.ts'
import { chat, pluginFolder, simulated } from './plugin-files.fixture.ts'

test('a sink is told of every committed call, cannot change it, and its faults are nobody else’s', async () => {
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
    // What waits is told before the plugins go.
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
    { plugin: 'plugin.sink', failure: 'threw' },
  ])
  files.remove()
})
