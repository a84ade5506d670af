import { afterAll, beforeAll, describe, test } from 'bun:test'
import { expectBudgetShown, expectToolLoop } from './expect.ts'
import { commandsFor } from './page.ts'
import { installed } from './programs.ts'
import { openStage, type Stage } from './stage.ts'

const bin = await installed('codex')

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.stop())

describe.skipIf(bin === undefined)('Codex', () => {
  const commands = commandsFor('codex')
  const run = (model: string, broke = false) =>
    stage.run({ bin: bin as string, commands, model, broke })

  test('works over responses', async () => {
    const model = 'gpt-5'
    const result = await run(model)
    await expectToolLoop(stage, { result, model, harness: 'codex' })
  })

  test.concurrent('stops when a budget is used up, and says so', async () => {
    const model = 'gpt-5'
    const result = await run(model, true)
    await expectBudgetShown(stage, { result, model, calls: 1 })
  })
})
