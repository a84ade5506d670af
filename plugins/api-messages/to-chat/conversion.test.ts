import { expect, test } from 'bun:test'
import type { ConversionRoute } from 'model-gateway/surface'
import { messagesToChat } from './conversion.ts'
import { readMessages } from './request.ts'

const request = readMessages(
  {
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'hi' }],
    metadata: { user_id: 'u' },
    output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
  },
  null,
)
const callFor = messagesToChat.request(request)

const route = (bound: object, json_schema = true) =>
  ({ bound, capabilities: { json_schema }, spec: {} }) as unknown as ConversionRoute

test('each kind of route gets the call that it can read, whoever was asked before', () => {
  expect(callFor(route({ compatShape: true })).body).toMatchObject({ user: 'u' })
  expect(callFor(route({})).body).not.toHaveProperty('user')
})

test('a route without schemas is refused, one that has them is not', () => {
  expect(() => callFor(route({}))).not.toThrow()
  expect(() => callFor(route({}, false))).toThrow('does not support json_schema')
})

test('routes of one kind share one call', () => {
  expect(callFor(route({}))).toBe(callFor(route({ supports: [] })))
})
