import { expect, test } from 'bun:test'
import { packCost, testGuardrailPack, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'
import { sampleNamePack } from './src/pack.ts'

testPlugin({ plugin })

testGuardrailPack({ pack: sampleNamePack, folder: import.meta.dir, atLeast: 10 })

test('a verdict takes less than 100 µs', async () => {
  const input = {
    kind: 'tool_call',
    phase: 'mcp_call',
    server: { key: 'sample-name', aliases: [] },
    tool: 'export',
    arguments: { visibility: 'public' },
  } as const
  expect(await packCost(sampleNamePack, [input])).toBeLessThan(100)
})
