/** Whatever a caller's history looks like, the service takes what is made of it. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { strictRefusal } from '../../test/harness/strict-clouds.ts'
import { googleRequest } from './google-content-request.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const id = fc.constantFrom('a', 'b', 'c')
const text = fc.constantFrom('', 'hi', '{"a":1}', '{"$ref":"x"}', '[1]', '{"')
const part = fc.constantFrom<JsonObject>(
  { type: 'text', text: '' },
  { type: 'text', text: 'Look' },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
  { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
)
const content = fc.oneof(text, fc.constant(null), fc.array(part, { maxLength: 3 }))
const signature = fc.constantFrom<JsonObject>(
  {},
  { thought_signature: 'c2ln' },
  { extra_content: { google: { thought_signature: 'c2ln' } } },
  { thought_signature: '' },
)
const call = fc
  .record({ id, text, signature, name: fc.string({ minLength: 1, maxLength: 80 }) })
  .map(({ id: own, text: args, signature: sign, name }) => ({
    id: own,
    type: 'function',
    function: { name, arguments: args },
    ...sign,
  }))
const message = fc.oneof(
  content.map((said) => ({ role: 'user', content: said })),
  text.map((said) => ({ role: 'system', content: said })),
  fc
    .record({ said: text, calls: fc.array(call, { maxLength: 3 }), signature })
    .map(({ said, calls, signature: sign }) => ({
      role: 'assistant',
      content: said,
      tool_calls: calls,
      ...sign,
    })),
  fc.record({ id, content }).map(({ id: tool_call_id, content: said }) => ({
    role: 'tool',
    tool_call_id,
    content: said,
  })),
)
const fields = fc.record(
  {
    seed: fc.maxSafeInteger(),
    store: fc.boolean(),
    metadata: fc.constantFrom<JsonValue>({}, { a: 'b' }),
    n: fc.constant(1),
    user: fc.string(),
    something_new: fc.jsonValue() as fc.Arbitrary<JsonValue>,
    tool_choice: fc.constantFrom('auto', 'none'),
    tools: fc.array(
      fc
        .string({ minLength: 1, maxLength: 80 })
        .map((name) => ({ type: 'function', function: { name } })),
    ),
  },
  { requiredKeys: [] },
)

const neutral = fc.record(
  {
    temperature: fc.constant(null),
    top_p: fc.constantFrom(null, 1),
    n: fc.constantFrom(null, 1),
    stop: fc.constantFrom<JsonValue>(null, [], '', ['']),
    presence_penalty: fc.constantFrom(null, 0),
    frequency_penalty: fc.constantFrom(null, 0),
    logit_bias: fc.constantFrom<JsonValue>(null, {}),
    logprobs: fc.constantFrom(null, false),
    top_logprobs: fc.constantFrom(null, 0),
    response_format: fc.constantFrom<JsonValue>(null, { type: 'text' }),
    modalities: fc.constantFrom<JsonValue>(null, [], ['text']),
    audio: fc.constant(null),
    reasoning_effort: fc.constant(null),
    reasoning: fc.constantFrom<JsonValue>(null, {}, { effort: null }),
    parallel_tool_calls: fc.constantFrom(null, true),
    tool_choice: fc.constantFrom(null, 'auto'),
    web_search_options: fc.constant(null),
    functions: fc.constantFrom<JsonValue>(null, []),
    function_call: fc.constantFrom(null, 'auto', 'none'),
    stream_options: fc.constantFrom<JsonValue>(null, { include_usage: true }),
    service_tier: fc.constantFrom(null, 'auto', 'default'),
    store: fc.constantFrom(null, false),
    metadata: fc.constantFrom<JsonValue>(null, {}),
    labels: fc.constantFrom<JsonValue>(null, {}),
    safety_settings: fc.constantFrom<JsonValue>(null, []),
  },
  { requiredKeys: [] },
)

test('neutral parameters change nothing and are not reported', () => {
  fc.assert(
    fc.property(neutral, (more) => {
      const messages = [{ role: 'user', content: 'hi' }]
      const tools = [{ type: 'function', function: { name: 'f' } }]
      const send = (body: JsonObject) => {
        const dropped = (name: string) => expect(name).toBeUndefined()
        const call = { body: { model: 'asked', messages, tools, ...body }, stream: false, dropped }
        return googleRequest(call, { upstreamModel: 'gemini-3.5-flash' }, names)
      }
      expect(send(more as JsonObject)).toEqual(send({}))
    }),
    { numRuns: 300 },
  )
})

test.each(['gemini-3.5-flash', 'gemini-2.5-flash', 'gemini-flash-latest'])('%s', (model) => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fields, (list, more) => {
      const messages = [{ role: 'user', content: 'Begin' }, ...list] as JsonValue[]
      const body = { model: 'asked', ...more, messages } as JsonObject
      const request = googleRequest(
        { body, stream: false, dropped() {} },
        { upstreamModel: model },
        names,
      )
      const sent = JSON.parse(JSON.stringify(request)) as JsonObject
      const path = `/v1/publishers/google/models/${model}:generateContent`
      expect(strictRefusal(path, sent)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})
