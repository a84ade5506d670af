import { expect, test } from 'bun:test'
import { testGuardrailPack } from 'model-gateway/testing'
import { coreShell } from './index.ts'

testGuardrailPack({
  pack: coreShell,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})

test.each([
  ['that call themselves', 'f(){ f; };'],
  ['whose parts are piped to each other', 'f(){ a|a; f; };'],
])('thousands of functions %s are judged in a moment', (_, one) => {
  const command = one.repeat(Math.floor(60_000 / one.length))
  const start = performance.now()
  coreShell.evaluate({ kind: 'command', phase: 'harness_pre_tool', command })
  expect(performance.now() - start).toBeLessThan(700)
})
