import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { outboundBody } from './outbound-body.ts'
import { dropPreservedReasoning } from './preserved-reasoning.ts'

const reasoning = { source: 'anthropic_messages', blocks: [{ type: 'thinking', thinking: 'hm' }] }

function sent(message: JsonObject) {
  const body = { messages: [{ role: 'user', content: 'q' }, message] }
  const outbound = outboundBody({ body, rawBody: JSON.stringify(body) })
  dropPreservedReasoning(outbound)
  return (JSON.parse(outbound.text()) as { messages: JsonObject[] }).messages[1]
}

test.each<[JsonObject, JsonObject]>([
  [{ cloud_b_ml: { reasoning } }, {}],
  [{ cloud_b_ml: { reasoning }, cloud_a_ml: { reasoning } }, {}],
  [
    { cloud_b_ml: { reasoning, trace: 1 }, own: { x: 1 } },
    { provider_metadata: { cloud_b_ml: { trace: 1 }, own: { x: 1 } } },
  ],
])('of %j stays %j', (provider_metadata, rest) => {
  const said = { role: 'assistant', content: 'a' }
  expect(sent({ ...said, provider_metadata })).toEqual({ ...said, ...rest })
})

test('a body without assistant reasoning is unchanged', () => {
  const text =
    '{"messages":[{"role":"user","n":12345678901234567890,"provider_metadata":{"x":{"reasoning":1}}},' +
    '{"role":"assistant","provider_metadata":{"own":{"a": 1}}},"odd"]}'
  const outbound = outboundBody({ body: JSON.parse(text), rawBody: text })
  dropPreservedReasoning(outbound)
  expect(outbound.text()).toBe(text)
})
