import { expect, test } from 'bun:test'
import type { Route } from '../routing/catalog.ts'
import { readMessages } from '../wire/messages-request.ts'
import { messagesOver } from './messages-over.ts'

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
const over = messagesOver(request)

const route = (bound: object, json_schema = true) =>
  ({ bound, capabilities: { json_schema } }) as unknown as Route

test('each kind of route gets the call that it can read, whoever was asked before', () => {
  const body = (to: Route) => over.call(to).body
  expect(body(route({ compatShape: true }))).toMatchObject({ user: 'u' })
  expect(body(route({}))).not.toHaveProperty('user')
  expect(over.call(route({ nativeMessages: true })).messages).toBeDefined()
  expect(over.call(route({})).messages).toBeUndefined()
})

test('a route without schemas is refused, one that has them is not', () => {
  expect(over.refusal(route({}))).toBeUndefined()
  const refused = over.refusal(route({}, false))
  expect(refused).toMatchObject({ code: 'invalid_request' })
  expect(() => over.call(route({}, false))).toThrow(refused as Error)
})

test('routes of one kind share one call', () => {
  expect(over.call(route({}))).toBe(over.call(route({ supports: [] })))
})
