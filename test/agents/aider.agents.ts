import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { commandsFor } from './page.ts'
import { installed } from './programs.ts'
import { openStage, type Stage } from './stage.ts'

const bin = await installed('aider')
/** The price list that it would download. */
const home = { '.aider/caches/model_prices_and_context_window.json': '{"none":{}}' }
const env = {
  AIDER_ANALYTICS: 'false',
  AIDER_CHECK_UPDATE: 'false',
  AIDER_SHOW_RELEASE_NOTES: 'false',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
}

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.stop())

describe.skipIf(bin === undefined)('aider', () => {
  const commands = commandsFor('aider')
  const run = (model: string) => stage.run({ bin: bin as string, commands, model, env, home })

  test.concurrent.each(['gpt-5', 'vertex/claude-sonnet-4-6'])('works over %s', async (model) => {
    const result = await run(model)
    expect(result).toMatchObject({ code: 0, out: expect.stringContaining(result.conclusion) })
    expect(await stage.log(model, 2)).toMatchObject(
      Array.from({ length: 2 }, () => ({
        outcome: 'success',
        agent_harness_key: 'aider',
        exposed_tool_count: 0,
        invoked_tool_count: 0,
      })),
    )
  })

  // It goes on trying for a minute, with the message before each try.
  test('says at once that a budget is used up', async () => {
    const reason = 'is used up: quota exceeded, it will reset at'
    const { out } = await stage.run({
      ...{ bin: bin as string, commands, model: 'gpt-5', env: { ...env, COLUMNS: '500' }, home },
      ...{ broke: true, until: 'Retrying in 0.2 seconds' },
    })
    expect(out.replaceAll('\n', ' ')).toContain(reason)
  })
})
