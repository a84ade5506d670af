import { afterAll, beforeAll, describe, test } from 'bun:test'
import { expectBudgetShown, expectToolLoop } from './expect.ts'
import { commandsFor } from './page.ts'
import { installed } from './programs.ts'
import { openStage, type Stage } from './stage.ts'

const bin = await installed('gemini')
const quiet = {
  '.gemini/settings.json': JSON.stringify({
    general: { enableAutoUpdate: false, disableAutoUpdate: true },
    privacy: { usageStatisticsEnabled: false },
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  }),
}

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.stop())

describe.skipIf(bin === undefined)('Gemini CLI', () => {
  const commands = commandsFor('gemini')
  const run = (model: string, broke = false) =>
    stage.run({ bin: bin as string, commands, model, broke, home: quiet })

  test.concurrent.each(['gpt-5', 'vertex/claude-sonnet-4-6'])('works over %s', async (model) => {
    const result = await run(model)
    await expectToolLoop(stage, { result, model, harness: 'gemini_cli' })
  })

  test.concurrent('stops when a budget is used up, and says so', async () => {
    const model = 'gpt-5'
    const result = await run(model, true)
    await expectBudgetShown(stage, { result, model, calls: 1 })
  })
})
