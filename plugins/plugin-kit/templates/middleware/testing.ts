import { expect, test } from 'bun:test'
import { middlewareCost, testMiddleware, testPlugin } from 'model-gateway/testing'
import { capTokens } from './src/cap.ts'
import plugin from './src/index.ts'

const messages = [{ role: 'user', content: 'Where do rivers run?' }]

testPlugin({ plugin, config: { max_tokens: 50 } })

testMiddleware({
  plugin,
  config: { max_tokens: 50 },
  cases: [
    {
      name: 'what asks for more gets the limit',
      id: 'sample-name.cap',
      request: { model: 'fast', messages, max_tokens: 51 },
      body: { model: 'fast', messages, max_tokens: 50 },
    },
    {
      name: 'what asks for less stays as it is',
      id: 'sample-name.cap',
      request: { model: 'fast', messages, max_tokens: 50 },
      body: 'as it came',
    },
    {
      name: 'the caller is told',
      id: 'sample-name.tell',
      state: { 'sample-name.capped': '50' },
      headers: { 'x-sample-name-capped': '50' },
    },
    { name: 'but not of nothing', id: 'sample-name.tell', headers: {} },
  ],
})

test('it costs little', async () => {
  expect(await middlewareCost(capTokens(50))).toBeLessThan(100)
})
