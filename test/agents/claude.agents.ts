import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { blocksOf } from '../harness/docs-page.ts'
import { startFromEnvironment } from '../harness/from-environment.ts'
import { type CloudCall, cloudKey, startClouds } from '../harness/upstream-clouds.ts'
import { expectBudgetShown, expectToolLoop } from './expect.ts'
import { readsFiles } from './model.ts'
import { commandsFor } from './page.ts'
import { installed } from './programs.ts'
import { openStage, runAgent, type Stage } from './stage.ts'

const bin = await installed('claude')
const commands = commandsFor('claude')
const env = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.stop())

const run = (model: string, broke = false) =>
  stage.run({ bin: bin as string, commands, model, broke, env })

describe.skipIf(bin === undefined)('Claude Code', () => {
  test.concurrent.each([
    'chat/claude-sonnet-4-6',
    'responses/claude-sonnet-4-6',
    'gemini/claude-sonnet-4-6',
    'vertex/claude-sonnet-4-6',
    'converse/claude-sonnet-4-6',
    'edge/claude-opus-4-8',
  ])('works over %s', async (model) => {
    const result = await run(model)
    await expectToolLoop(stage, { result, model, harness: 'claude_code' })
  })

  test.concurrent('works over a gateway that was started with a key and no config', async () => {
    const clouds = await startClouds()
    clouds.says = readsFiles
    const gateway = await startFromEnvironment({
      ANTHROPIC_API_KEY: cloudKey,
      GATEWAY_ANTHROPIC_BASE_URL: clouds.url,
    })
    try {
      const model = 'anthropic/claude-sonnet-4-6'
      const { url, key } = gateway
      const result = await runAgent(url, key, { bin: bin as string, commands, model, env })
      expect(result).toMatchObject({ code: 0, out: expect.stringContaining(result.conclusion) })
      const turns = clouds.calls.filter(({ path }) => path === '/v1/messages')
      expect(new Set(turns.map(({ body }) => body.model))).toEqual(new Set(['claude-sonnet-4-6']))
    } finally {
      await gateway.stop()
      await clouds.stop()
    }
  })

  test.concurrent('runs as docs/tutorials/claude-code.md describes', async () => {
    const [settings = '', ...steps] = blocksOf('docs/tutorials/claude-code.md').map(
      ({ text }) => text,
    )
    expect(settings.match(/^\w+(?==)/gm)).toEqual([
      'GATEWAY_URL',
      'GATEWAY_API_KEY',
      'GATEWAY_MODEL',
    ])
    const gateway = await startFromEnvironment({})
    try {
      const { out, code } = await runAgent(gateway.url, gateway.key, {
        bin: bin as string,
        commands: steps.join('\n'),
        model: 'demo',
        env,
      })
      expect(code).toBe(0)
      expect(out).toContain('I am the simulator')
      const { data } = JSON.parse(out.slice(out.indexOf('{"data"')))
      expect(JSON.stringify(data)).toContain('"model_key":"demo"')
    } finally {
      await gateway.stop()
    }
  })

  test.concurrent('stops when a budget is used up, and says so', async () => {
    const model = 'vertex/claude-sonnet-4-6'
    const result = await run(model, true)
    await expectBudgetShown(stage, { result, model, calls: 1 })
  })

  /** Of routes whose upstream speaks the messages API. */
  describe.each(['vertex/claude-sonnet-4-6', 'edge/claude-opus-4-8'])('%s', (model) => {
    let sent: CloudCall[]
    beforeAll(async () => {
      const { calls } = stage.clouds
      const before = calls.length
      await run(model)
      sent = calls.slice(before)
    })

    test('gets back what it has thought, with its signature', () => {
      const thought = { type: 'thinking', signature: 'c2ln' }
      const turns = sent.at(-1)?.body.messages as JsonObject[] | undefined
      // Of its own it tells Opus what it has to say beside the user.
      const said = turns?.filter(({ role }) => role !== 'system')
      expect(said?.slice(1)).toMatchObject([
        { content: [{ ...thought, thinking: 'I read first.txt.' }, { type: 'tool_use' }] },
        { content: [{ type: 'tool_result' }] },
        { content: [{ ...thought, thinking: 'I read second.txt.' }, { type: 'tool_use' }] },
        { content: [{ type: 'tool_result' }] },
      ])
    })

    test('gets the edits of the context, and no beta that only Anthropic has', () => {
      for (const { body, headers } of sent) {
        expect(body.context_management).toMatchObject({ edits: [{}] })
        const betas = `${body.anthropic_beta} ${headers['anthropic-beta']}`
        expect(betas).toContain('context-management-2025-06-27')
        expect(betas).not.toContain('thinking-token-count-2026-05-13')
      }
    })
  })

  test('what it tells Anthropic for its bills goes to no other upstream', async () => {
    await run('chat/claude-sonnet-4-6')
    const told = stage.clouds.calls
      .filter(({ body }) => JSON.stringify(body).includes('x-anthropic-billing-header'))
      .map(({ path }) => path)
    expect([...new Set(told)]).toEqual([])
  })
})
