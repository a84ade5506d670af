import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  settledCall,
  setUpPlugin,
  testAccountingSink,
  testPlugin,
  withFault,
} from 'model-gateway/testing'
import plugin from './src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'sample-name-'))
const files = { directory: () => folder }
afterAll(() => rmSync(folder, { recursive: true }))

function written(): string[] {
  const file = join(folder, 'calls.jsonl')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

testPlugin({ plugin, config: { file: 'other.jsonl' } })

testAccountingSink({ plugin, capabilities: { files }, written })

test('a line has the caller, the model and the cost', async () => {
  const line = written().find((each) => each.includes('large-cost-x')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({
    at: settledCall().dispatchedAt,
    owner: settledCall().caller.ownershipScopeKey,
    model: 'small-model',
    outcome: 'priced',
    cost_pico_usd: '9007199254740993',
  })
})

test('the gateway does not start if the folder cannot be created', async () => {
  const broken = withFault(files, 'directory', { kind: 'throw', error: new Error('disk full') })
  const bench = await setUpPlugin({ plugin, capabilities: { files: broken } })
  expect(String(bench.error)).toContain('disk full')
})
