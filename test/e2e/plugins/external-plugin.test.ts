import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { blocksOf } from '../../harness/docs-page.ts'
import { adaKey, startTestGateway } from '../../harness/gateway.ts'

/** The block of this number, from 0, in this language in the plugin guide. */
function fromTheGuide(language: string, index: number): string {
  const blocks = blocksOf('docs/plugins.md').filter((block) => block.language === language)
  const text = blocks[index]?.text
  if (text === undefined) throw new Error(`the guide has no ${language} block ${index}`)
  return text
}

test('the provider of the guide, a file outside the repository, serves chat', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-plugin-'))
  const file = join(folder, 'shout.ts')
  writeFileSync(file, fromTheGuide('ts', 0))
  const config = parse(fromTheGuide('yaml', 0))
  config.plugins[1].use = file
  const gateway = await startTestGateway(config)
  try {
    const client = gateway.openai(adaKey)
    const request = { model: 'shout', messages: [{ role: 'user' as const, content: 'hello you' }] }
    const whole = await client.chat.completions.create(request)
    expect(whole.choices[0]?.message.content).toBe('HELLO YOU?!')
    expect(whole.model).toBe('shout')

    let text = ''
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    expect(text.trim()).toBe('HELLO YOU?!')

    const tools = [{ type: 'function' as const, function: { name: 'f' } }]
    const refused = await client.chat.completions.create({ ...request, tools }).catch((e) => e)
    expect(refused.message).toContain('tools')
    const rows = await gateway.sql`select pricing_status from accounting.usage_cost_events`
    expect(rows.map((row) => row.pricing_status)).toEqual(['unpriced', 'unpriced'])
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true })
  }
})

test('the middleware of the guide runs around requests, together with a pack in a worker', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-plugin-'))
  const file = join(folder, 'tenant.ts')
  writeFileSync(file, fromTheGuide('ts', 1))
  const config = parse(fromTheGuide('yaml', 1))
  config.plugins[1].use = file
  const gateway = await startTestGateway(config)
  try {
    const chat = { model: 'demo', messages: [{ role: 'user', content: 'hello' }] }
    const refused = await gateway.post('/v1/chat/completions', chat)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('x-tenant: is missing'),
    ])
    const served = await gateway.post('/v1/chat/completions', chat, { 'x-tenant': 'blue' })
    expect([served.status, served.headers.get('x-tenant-served')]).toEqual([200, 'blue'])
    const started = gateway.registry.plugins.find(({ id }) => id === 'guardrail-pack.core-git')
    expect(started?.isolation).toBe('worker')
    const asked = { tool_name: 'bash', command: 'git push --force origin main' }
    const json = { 'content-type': 'application/json' }
    const verdict = await gateway.post('/api/v1/guardrails/evaluate', asked, json)
    expect(await verdict.json()).toMatchObject({ data: { action: 'deny' } })
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true })
  }
})

test('the service of the guide, with its own config section, is available to the plugin that requires it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-plugin-'))
  const config = parse(fromTheGuide('yaml', 2))
  for (const [index, name] of ['quota.ts', 'quota-header.ts'].entries()) {
    writeFileSync(join(folder, name), fromTheGuide('ts', 2 + index))
    expect(config.plugins[1 + index].use).toBe(`./${name}`)
    config.plugins[1 + index].use = join(folder, name)
  }
  const gateway = await startTestGateway(config)
  try {
    const chat = { model: 'demo', messages: [{ role: 'user', content: 'hello' }] }
    const reply = await gateway.post('/v1/chat/completions', chat)
    expect([reply.status, reply.headers.get('x-quota')]).toEqual([200, '7'])
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true })
  }
})
