/** Whatever a caller's conversation looks like, what goes out is what the services take. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { strictRefusal } from '../../test/harness/strict-clouds.ts'
import {
  edgeMessages,
  invokeMessages,
  type MessagesDialect,
  rawPredictMessages,
} from '../_shared/messages-dialect.ts'
import { messagesRequest } from '../_shared/messages-request.ts'
import { unifiedRequest } from './unified-request.ts'

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'Hello. ', 'x'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)
const name = fc.constantFrom('f', 'fs.read', 'x'.repeat(65), 'x'.repeat(200), 'a b', 'größe')
const id = fc.constantFrom('0', '1', 'call:odd', 'y'.repeat(70))
const mark = fc.constantFrom<JsonObject>(
  {},
  {},
  { cache_control: { type: 'ephemeral' } },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
)
const part = fc.tuple(text, mark).map(([text, marked]) => ({ type: 'text', text, ...marked }))
const content = fc.oneof(text, fc.constant(null), fc.array(part, { maxLength: 3 }))
const call = fc
  .record({ id, name, arguments: fc.constantFrom('{}', '{"a":1}', '', '{', 'null', '[1]') })
  .map(({ id, ...fn }) => ({ id, type: 'function', function: fn }))
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer'), content }),
  fc.record({ role: fc.constant('user'), content }),
  fc.record({ role: fc.constant('assistant'), content }),
  fc.record({
    role: fc.constant('assistant'),
    content,
    tool_calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content }),
)
const tool = fc
  .tuple(name, mark)
  .map(([name, marked]) => ({ type: 'function', function: { name }, ...marked }))
const tools = fc.uniqueArray(tool, { maxLength: 3, selector: (each) => each.function.name })
const params = fc.record(
  {
    n: fc.constant(1),
    stop: fc.constantFrom('', [], 'END', ['END', '']),
    user: fc.constantFrom('', 'u', 'ann@x.test'),
    metadata: fc.constantFrom({}, { a: 'b' }),
    seed: fc.constant(7),
    logprobs: fc.constant(false),
    response_format: fc.constant({ type: 'text' }),
    parallel_tool_calls: fc.boolean(),
    tool_choice: fc.constantFrom('auto', 'none'),
    tools: fc.oneof(fc.constant(null), tools),
    reasoning_budget_tokens: fc.constant(1024),
    temperature: fc.constant(1),
    unheard_of: fc.constant(1),
  },
  { requiredKeys: [] },
)
const body = fc.tuple(fc.array(message, { maxLength: 8 }), params).map(
  ([messages, rest]): JsonObject => ({
    model: 'asked',
    max_tokens: 9,
    // One thing at least is said, so that there is something to send.
    messages: [...messages, { role: 'user', content: 'Well?' }],
    ...rest,
  }),
)

test.each([
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'us.amazon.nova-pro-v1:0',
  'meta.llama3-70b-instruct-v1:0',
])('Converse: %s', (upstreamModel) => {
  const route = { upstreamModel, extraBody: {}, unsupportedParams: 'drop' as const }
  fc.assert(
    fc.property(body, (asked) => {
      const { body } = unifiedRequest(route, providerCall(asked))
      const sent = JSON.parse(JSON.stringify(body)) as JsonObject
      expect(strictRefusal(`/model/${upstreamModel}/converse`, sent)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})

test.each<[string, MessagesDialect]>([
  ['/v1/models/claude:rawPredict', rawPredictMessages],
  ['/model/claude/invoke', invokeMessages],
  ['/anthropic/v1/messages', edgeMessages],
])('messages: %s', (path, dialect) => {
  const unsupportedParams = 'drop' as const
  const route = { dialect, upstreamModel: 'claude-sonnet-4-5', extraBody: {}, unsupportedParams }
  fc.assert(
    fc.property(body, (asked) => {
      const { body } = messagesRequest(route, providerCall(asked))
      const sent = JSON.parse(JSON.stringify(body)) as JsonObject
      expect(strictRefusal(path, sent)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})

/** Random parameters at values that say nothing. */
const neutral = fc.record(
  {
    n: fc.constant(1),
    frequency_penalty: fc.constantFrom(0, null),
    presence_penalty: fc.constant(0),
    logprobs: fc.constantFrom(false, null),
    top_logprobs: fc.constant(0),
    logit_bias: fc.constantFrom({}, null),
    stop: fc.constantFrom<JsonValue>([], '', null),
    response_format: fc.constantFrom({ type: 'text' }, null),
    modalities: fc.constantFrom<string[]>(['text'], []),
    parallel_tool_calls: fc.constant(true),
    store: fc.constant(false),
    metadata: fc.constantFrom({}, null),
    user: fc.constantFrom('', null),
    service_tier: fc.constantFrom('auto', 'default'),
    functions: fc.constant<JsonValue>([]),
    verbosity: fc.constant('medium'),
    stream: fc.constant(false),
  },
  { requiredKeys: [] },
)

test('neutral parameters change nothing, over every conversion', () => {
  const unified = (upstreamModel: string) => (asked: JsonObject) => {
    const call = providerCall(asked)
    const { body } = unifiedRequest(
      { upstreamModel, extraBody: {}, unsupportedParams: 'reject' },
      call,
    )
    return [body, call.leftOut]
  }
  const messages = (dialect: MessagesDialect) => (asked: JsonObject) => {
    const call = providerCall(asked)
    const upstreamModel = 'claude-sonnet-4-6'
    const route = { dialect, upstreamModel, extraBody: {}, unsupportedParams: 'reject' as const }
    return [messagesRequest(route, call).body, call.leftOut]
  }
  const conversions = [
    unified('amazon.nova-pro-v1:0'),
    unified('anthropic.claude-sonnet-4-6'),
    ...[rawPredictMessages, invokeMessages, edgeMessages].map(messages),
  ]
  const plain = { model: 'asked', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  fc.assert(
    fc.property(neutral, (params) => {
      for (const send of conversions) expect(send({ ...plain, ...params })).toEqual(send(plain))
    }),
  )
})
