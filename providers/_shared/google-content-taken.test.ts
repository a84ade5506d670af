/** Whatever a caller's history looks like, the service takes what is made of it. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { contentRefusal } from '../../test/harness/upstream-google-rules.ts'
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
  { thought_signature: 'of another' },
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
      expect(contentRefusal(path, sent)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})
