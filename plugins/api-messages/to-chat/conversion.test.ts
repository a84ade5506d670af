import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
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

test('each kind of route gets a call that it supports, in any order', () => {
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

test.each<[ConversionRoute['bound']['takesEffort'], JsonObject, boolean]>([
  [undefined, {}, false],
  [false, {}, false],
  [true, {}, true],
  [true, { tools: [{ name: 'f', input_schema: { type: 'object' } }] }, true],
  ['without_tools', {}, true],
  ['without_tools', { tools: [{ name: 'f', input_schema: { type: 'object' } }] }, false],
])('an effort goes where it is taken: %p, %j: %p', (takesEffort, more, isSent) => {
  const output_config = { effort: 'high' }
  const messages = [{ role: 'user', content: 'hi' }]
  const asked = { model: 'm', max_tokens: 5, messages, output_config, ...more }
  const convert = messagesToChat.request(readMessages(asked, null))
  const { body, dropped } = convert(route({ takesEffort }))
  expect([body.reasoning_effort, dropped]).toEqual(
    isSent ? ['high', []] : [undefined, ['output_config.effort']],
  )
  // Which route was asked before makes no difference.
  expect(convert(route({ takesEffort: true })).body.reasoning_effort).toBe('high')
})
