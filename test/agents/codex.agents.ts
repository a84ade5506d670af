import { afterAll, beforeAll, describe, test } from 'bun:test'
import { expectToolLoop } from './expect.ts'
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
  const run = (model: string) => stage.run({ bin: bin as string, commands, model })

  test('works over responses', async () => {
    const model = 'gpt-5'
    const result = await run(model)
    await expectToolLoop(stage, { result, model, harness: 'codex' })
  })
})
