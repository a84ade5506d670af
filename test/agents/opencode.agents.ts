import { afterAll, beforeAll, describe, test } from 'bun:test'
import { expectBudgetShown, expectToolLoop } from './expect.ts'
import { commandsFor } from './page.ts'
import { installed } from './programs.ts'
import { openStage, type Stage } from './stage.ts'

const bin = await installed('opencode')

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.stop())

describe.skipIf(bin === undefined)('opencode', () => {
  const run = (model: string, api: string, broke = false) =>
    stage.run({
      bin: bin as string,
      commands: commandsFor('opencode', api),
      model,
      broke,
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    })

  test.concurrent.each([
    ['gpt-5', '@ai-sdk/openai-compatible'],
    ['gemini/claude-sonnet-4-6', '@ai-sdk/openai-compatible'],
    ['chat/claude-sonnet-4-6', '@ai-sdk/anthropic'],
    ['vertex/claude-sonnet-4-6', '@ai-sdk/anthropic'],
    ['converse/claude-sonnet-4-6', '@ai-sdk/anthropic'],
    ['edge/claude-opus-4-8', '@ai-sdk/anthropic'],
  ])('works over %s with %s', async (model, api) => {
    const result = await run(model, api)
    await expectToolLoop(stage, { result, model, harness: 'opencode' })
  })

  // It tries five more times, at once, and so for a title.
  test.concurrent.each([
    ['gpt-5', '@ai-sdk/openai-compatible'],
    ['vertex/claude-sonnet-4-6', '@ai-sdk/anthropic'],
  ])('stops when a budget is used up, and says so: %s with %s', async (model, api) => {
    const result = await run(model, api, true)
    await expectBudgetShown(stage, { result, model, calls: 12 })
  })
})
