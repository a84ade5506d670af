/** Whatever a caller's conversation looks like, what goes out is what the responses API takes. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { strictRefusal } from '../../test/harness/strict-clouds.ts'
import { responsesRequest } from './responses-chat-request.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const text = fc.oneof(
  fc.constantFrom('', ' ', 'Hello.', 'x'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)
const name = fc.constantFrom('f', 'fs.read', 'x'.repeat(65), 'a b', 'größe')
const id = fc.constantFrom('0', '1', 'call:odd', 'y'.repeat(70))
const pdf = 'data:application/pdf;base64,QUJD'
const part = fc.oneof(
  text.map((text) => ({ type: 'text', text })),
  text.map((text) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })),
)
const shown = fc.oneof(
  part,
  fc.constant({ type: 'image_url', image_url: { url: 'https://x/i.png' } }),
  fc.constantFrom('', 'Report', 'a.pdf').map((filename) => ({
    type: 'file',
    file: { file_data: pdf, filename },
  })),
)
const content = fc.oneof(text, fc.constant(null), fc.array(part, { maxLength: 3 }))
const media = fc.oneof(content, fc.array(shown, { maxLength: 3 }))
const call = fc.oneof(
  fc
    .record({ id, name, arguments: fc.constantFrom('{}', '{"a":1}', '', '{', 'null', '[1]') })
    .map(({ id, ...fn }) => ({ id, type: 'function', function: fn })),
  fc.record({ id, name, input: text }).map(({ id, ...custom }) => ({ id, type: 'custom', custom })),
)
const block = fc.record(
  {
    type: fc.constantFrom('reasoning', 'thinking'),
    id: fc.constantFrom<JsonValue>('rs_1', 'item_0', null),
    encrypted_content: fc.constantFrom<JsonValue>('gAAA', '', null),
    summary: fc.constantFrom<JsonValue[]>([], [{ type: 'summary_text', text: 's' }]),
    status: fc.constantFrom<JsonValue>('completed', null),
    before: fc.oneof(fc.constant('message'), id),
  },
  { requiredKeys: ['type'] },
)
const metadata = fc
  .record({
    source: fc.constantFrom('openai_responses', 'openai_responses_stream', 'unified'),
    phase: fc.constantFrom('commentary', 'final_answer'),
    blocks: fc.array(block, { maxLength: 3 }),
  })
  .map((reasoning) => ({ generic_compat: { reasoning } }))
const assistant = fc.record(
  {
    role: fc.constant('assistant'),
    content,
    refusal: fc.constantFrom(null, 'No.'),
    tool_calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
    provider_metadata: metadata,
  },
  { requiredKeys: ['role'] },
)
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer'), content }),
  fc.record({ role: fc.constant('user'), content: media, name: fc.constantFrom('', 'ann') }),
  assistant,
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content: media }),
)
const tool = name.map((name) => ({ type: 'function', function: { name } }))
const params = fc.record(
  {
    n: fc.constantFrom(1, 2),
    stop: fc.constantFrom('', [], 'END'),
    user: fc.constantFrom('', 'u'),
    metadata: fc.constantFrom({}, { a: 'b' }),
    seed: fc.constant(7),
    max_tokens: fc.integer({ min: 0, max: 99 }),
    max_completion_tokens: fc.integer({ min: 1, max: 99 }),
    logprobs: fc.boolean(),
    reasoning_effort: fc.constantFrom('none', 'low', 'xhigh'),
    reasoning: fc.constantFrom({}, { summary: 'auto' }, { max_tokens: 7 }),
    response_format: fc.constantFrom<JsonObject[]>(
      { type: 'text' },
      { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    ),
    parallel_tool_calls: fc.boolean(),
    tool_choice: fc.constantFrom('auto', 'none'),
    tools: fc.oneof(
      fc.constant(null),
      fc.uniqueArray(tool, { maxLength: 3, selector: (each) => each.function.name }),
    ),
    stream: fc.boolean(),
    stream_options: fc.constantFrom({}, { include_usage: true, include_obfuscation: false }),
    verbosity: fc.constantFrom('low', 'medium'),
    service_tier: fc.constantFrom('auto', 'flex'),
    unheard_of: fc.constant(1),
  },
  { requiredKeys: [] },
)
const body = fc.tuple(fc.array(message, { maxLength: 8 }), params).map(
  ([messages, rest]): JsonObject => ({
    model: 'asked',
    // One thing at least is said, so that there is something to send.
    messages: [...messages, { role: 'user', content: 'Well?' }] as JsonValue[],
    ...rest,
  }),
)

test('a model that reasons', () => {
  fc.assert(
    fc.property(body, fc.constantFrom('whole', 'from now on', 'none'), (asked, memory) => {
      const call = providerCall(asked)
      const sent = responsesRequest(call.body, call, {
        upstreamModel: 'gpt-5.5',
        unsupportedParams: 'drop',
        names: createToolNames(NAMES_OF_64),
        storable: true,
        memory,
      })
      const written = JSON.parse(JSON.stringify(sent)) as JsonObject
      expect(strictRefusal('/v1/responses', written)?.json).toBeUndefined()
    }),
    { numRuns: 1000 },
  )
})
