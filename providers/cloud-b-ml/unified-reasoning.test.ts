/** Every row of the tier table, as Converse is sent it. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { unifiedRequest } from './unified-request.ts'

const models = {
  newest: 'us.anthropic.claude-opus-4-7-v1:0',
  previous_two: 'anthropic.claude-sonnet-4-6',
  preview: 'anthropic.claude-mythos-preview',
  mid: 'global.anthropic.claude-opus-4-5-20251101-v1:0',
  older: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })
const disabled = { type: 'disabled' }
const adaptive = { type: 'adaptive' }
const adaptiveLow = { type: 'adaptive', effort: 'low' }
const low = { effort: 'low' }
const given = (thinking: JsonObject) => ({ additionalModelRequestFields: { thinking } })
const beta = { anthropic_beta: ['effort-2025-11-24'] }
const REFUSED = 'refused'

/** What the call says, and the `additionalModelRequestFields` that go out. */
type Row = readonly [keyof typeof models, JsonObject, JsonObject | undefined | typeof REFUSED]

const rows: readonly Row[] = [
  ['newest', {}, undefined],
  ['newest', { reasoning_effort: 'low' }, { thinking: adaptiveLow }],
  ['newest', { reasoning: low }, { thinking: adaptiveLow }],
  ['newest', { output_config: low }, { thinking: adaptiveLow }],
  ['newest', { reasoning_effort: 'low', thinking: adaptive }, { thinking: adaptiveLow }],
  ['newest', { thinking: adaptive }, { thinking: adaptive }],
  ['newest', { thinking: disabled }, { thinking: disabled }],
  ['newest', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['newest', { reasoning_budget_tokens: 2000 }, REFUSED],
  ['newest', { thinking: enabled(2000) }, REFUSED],
  ['newest', given(enabled(2000)), REFUSED],
  ['newest', given(adaptiveLow), { thinking: adaptiveLow }],
  ['newest', { reasoning_effort: 'low', ...given(adaptiveLow) }, { thinking: adaptiveLow }],
  ['newest', { reasoning_effort: 'low', ...given(adaptive) }, REFUSED],
  ['newest', { reasoning_effort: 'high', ...given(adaptiveLow) }, REFUSED],
  ['newest', { thinking: disabled, ...given(adaptive) }, REFUSED],
  ['newest', { temperature: 1, top_p: 1 }, undefined],
  ['newest', { temperature: 0.2 }, REFUSED],
  ['newest', { top_p: 0.2 }, REFUSED],
  ['newest', { additionalModelRequestFields: { top_k: 5 } }, REFUSED],
  ['newest', { additionalModelRequestFields: { topK: 5 } }, REFUSED],
  ['newest', { additionalModelRequestFields: {} }, undefined],

  ['previous_two', { reasoning_effort: 'low' }, { thinking: adaptiveLow }],
  ['previous_two', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  ['previous_two', { thinking: enabled(2000) }, { thinking: enabled(2000) }],
  ['previous_two', { reasoning_effort: 'low', thinking: enabled(2000) }, REFUSED],
  ['previous_two', { additionalModelRequestFields: { top_k: 5 } }, { top_k: 5 }],

  ['preview', { reasoning_effort: 'low' }, { thinking: adaptiveLow }],
  ['preview', { thinking: disabled }, REFUSED],

  [
    'mid',
    { reasoning: { ...low, budget_tokens: 2000 } },
    { thinking: { ...enabled(2000), ...low }, ...beta },
  ],
  [
    'mid',
    {
      reasoning_effort: 'low',
      thinking: enabled(2000),
      additionalModelRequestFields: { anthropic_beta: ['x'] },
    },
    { thinking: { ...enabled(2000), ...low }, anthropic_beta: ['x', 'effort-2025-11-24'] },
  ],
  [
    'mid',
    { reasoning_effort: 'low', reasoning_budget_tokens: 2000, additionalModelRequestFields: beta },
    { thinking: { ...enabled(2000), ...low }, ...beta },
  ],
  ['mid', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  ['mid', { reasoning_effort: 'low' }, REFUSED],
  ['mid', { thinking: adaptive }, REFUSED],
  ['mid', given(adaptive), REFUSED],

  ['older', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  [
    'older',
    { reasoning_effort: 'low', reasoning_budget_tokens: 2000 },
    { thinking: enabled(2000) },
  ],
  ['older', { thinking: enabled(2000) }, { thinking: enabled(2000) }],
  ['older', given(enabled(2000)), { thinking: enabled(2000) }],
  ['older', { reasoning_effort: 'low' }, REFUSED],
  ['older', { output_config: low }, REFUSED],
  ['older', { thinking: adaptive }, REFUSED],
  ['older', { thinking: { type: 'enabled' } }, REFUSED],
  [
    'older',
    { reasoning_budget_tokens: 2000, additionalModelRequestFields: { a: 1 } },
    { a: 1, thinking: enabled(2000) },
  ],
]

test.each(rows)('%s: %j', (tier, says, sent) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...says }
  const run = () =>
    unifiedRequest({ upstreamModel: models[tier], extraBody: {} }, { body, dropped() {} }).body
  if (sent === REFUSED) {
    expect(run).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400 }))
    return
  }
  const { additionalModelRequestFields: fields, inferenceConfig } = run()
  expect(fields).toEqual(sent)
  expect(inferenceConfig).toBeUndefined()
})

test.each(['newest', 'older'] as const)(
  'what Converse cannot say of output_config is refused by name: %s',
  (tier) => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      output_config: { task_budget: null, format },
    }
    const run = () =>
      unifiedRequest({ upstreamModel: models[tier], extraBody: {} }, { body, dropped() {} })
    expect(run).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining('output_config.format'),
      }),
    )
  },
)

describe('extra_body', () => {
  test('bypasses the reasoning rules', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
    const extraBody = { additionalModelRequestFields: { thinking: { type: 'enabled' } } }
    const sent = unifiedRequest(
      { upstreamModel: models.newest, extraBody },
      { body, dropped() {} },
    ).body
    expect(sent.additionalModelRequestFields).toEqual({ thinking: { type: 'enabled' } })
  })
})
