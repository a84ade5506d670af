import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { adaKey, startTestGateway } from '../harness/gateway.ts'

/** The first block of this language in the plugin guide. */
function fromTheGuide(language: string): string {
  const guide = readFileSync(new URL('../../docs/plugins.md', import.meta.url), 'utf8')
  const block = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(guide)?.[1]
  if (block === undefined) throw new Error(`the guide has no ${language} block`)
  return block
}

test('the provider of the guide, a file outside the repository, serves chat', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-plugin-'))
  const file = join(folder, 'shout.ts')
  writeFileSync(file, fromTheGuide('ts'))
  const config = parse(fromTheGuide('yaml'))
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
