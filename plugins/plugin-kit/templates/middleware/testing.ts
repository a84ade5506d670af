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
      name: 'a request for more tokens gets the limit',
      id: 'sample-name.cap',
      request: { model: 'fast', messages, max_tokens: 51 },
      body: { model: 'fast', messages, max_tokens: 50 },
    },
    {
      name: 'a request within the limit is not changed',
      id: 'sample-name.cap',
      request: { model: 'fast', messages, max_tokens: 50 },
      body: 'as it came',
    },
    {
      name: 'the response of a capped request has the header',
      id: 'sample-name.tell',
      state: { 'sample-name.capped': '50' },
      headers: { 'x-sample-name-capped': '50' },
    },
    { name: 'other responses do not have the header', id: 'sample-name.tell', headers: {} },
  ],
})

test('the middleware takes less than 100 µs', async () => {
  expect(await middlewareCost(capTokens(50))).toBeLessThan(100)
})
