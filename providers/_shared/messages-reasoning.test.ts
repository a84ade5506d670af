/** Every row of the tier table, as the native messages API is sent it. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { edgeMessages, invokeMessages, rawPredictMessages } from './messages-dialect.ts'
import { messagesRequest } from './messages-request.ts'

const models = {
  newest: 'claude-opus-4-7',
  previous_two: 'claude-sonnet-4-6',
  preview: 'claude-mythos-preview',
  mid: 'claude-opus-4-5',
  older: 'claude-sonnet-4-5',
}
const dialects = { rawPredictMessages, invokeMessages, edgeMessages }

const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })
const adaptive = { type: 'adaptive' }
const disabled = { type: 'disabled' }
const low = { effort: 'low' }
const REFUSED = 'refused'

type Row = readonly [tier: keyof typeof models, says: JsonObject, sent: JsonObject | typeof REFUSED]

const rows: readonly Row[] = [
  ['newest', {}, {}],
  ['newest', { reasoning_effort: 'low' }, { thinking: adaptive, output_config: low }],
  ['newest', { reasoning: low }, { thinking: adaptive, output_config: low }],
  [
    'newest',
    { reasoning_effort: 'max', reasoning: { effort: 'max' } },
    { thinking: adaptive, output_config: { effort: 'max' } },
  ],
  [
    'newest',
    { reasoning_effort: 'none' },
    { thinking: adaptive, output_config: { effort: 'none' } },
  ],
  [
    'newest',
    { reasoning_effort: 'low', thinking: adaptive },
    { thinking: adaptive, output_config: low },
  ],
  [
    'newest',
    { reasoning_effort: 'low', thinking: { ...adaptive, display: 'omitted' } },
    { thinking: { ...adaptive, display: 'omitted' }, output_config: low },
  ],
  [
    'newest',
    { reasoning_effort: 'low', output_config: low },
    { thinking: adaptive, output_config: low },
  ],
  [
    'newest',
    { reasoning_effort: 'low', output_config: { format: { type: 'json_schema' } } },
    { thinking: adaptive, output_config: { ...low, format: { type: 'json_schema' } } },
  ],
  ['newest', { output_config: low }, { output_config: low }],
  ['newest', { thinking: adaptive }, { thinking: adaptive }],
  ['newest', { thinking: disabled }, { thinking: disabled }],
  ['newest', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['newest', { thinking: enabled(2000) }, REFUSED],
  ['newest', { reasoning_budget_tokens: 2000 }, REFUSED],
  ['newest', { reasoning: { budget_tokens: 2000 } }, REFUSED],
  ['newest', { thinking_budget_tokens: 2000 }, REFUSED],
  ['newest', { temperature: 1, top_p: 1 }, {}],
  ['newest', { temperature: 0.5 }, REFUSED],
  ['newest', { top_p: 0.9 }, REFUSED],
  ['newest', { top_k: 1 }, REFUSED],
  ['newest', { temperature: null, top_k: null }, {}],

  ['previous_two', { reasoning_effort: 'low' }, { thinking: adaptive, output_config: low }],
  ['previous_two', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  ['previous_two', { reasoning: { budget_tokens: 2000 } }, { thinking: enabled(2000) }],
  [
    'previous_two',
    { thinking: { ...enabled(2000), display: 'omitted' } },
    { thinking: { ...enabled(2000), display: 'omitted' } },
  ],
  [
    'previous_two',
    { thinking_budget_tokens: 2000, thinking: enabled(2000) },
    { thinking: enabled(2000) },
  ],
  ['previous_two', { thinking: enabled(2000) }, { thinking: enabled(2000) }],
  [
    'previous_two',
    { thinking: enabled(2000), output_config: low },
    { thinking: enabled(2000), output_config: low },
  ],
  ['previous_two', { reasoning_effort: 'low', thinking: enabled(2000) }, REFUSED],
  ['previous_two', { reasoning_effort: 'low', reasoning_budget_tokens: 2000 }, REFUSED],
  ['previous_two', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['previous_two', { reasoning_budget_tokens: 2000, thinking: adaptive }, REFUSED],
  [
    'previous_two',
    { temperature: 0.5, top_p: 0.9, top_k: 4 },
    { temperature: 0.5, top_p: 0.9, top_k: 4 },
  ],

  ['preview', { reasoning_effort: 'low' }, { output_config: low }],
  [
    'preview',
    { reasoning_effort: 'low', thinking: adaptive },
    { thinking: adaptive, output_config: low },
  ],
  ['preview', { thinking: disabled }, REFUSED],
  ['preview', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['preview', { reasoning_effort: 'low', thinking: enabled(2000) }, REFUSED],

  ['mid', { thinking: adaptive }, REFUSED],
  ['mid', { reasoning_effort: 'low' }, REFUSED],
  ['mid', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['mid', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  [
    'mid',
    { reasoning: { ...low, budget_tokens: 2000 } },
    { thinking: enabled(2000), output_config: low },
  ],
  [
    'mid',
    { reasoning_effort: 'low', thinking: enabled(2000) },
    { thinking: enabled(2000), output_config: low },
  ],

  ['older', { thinking: adaptive }, REFUSED],
  ['older', { output_config: low }, REFUSED],
  ['older', { reasoning_effort: 'low' }, REFUSED],
  ['older', { reasoning_effort: 'low', thinking: disabled }, REFUSED],
  ['older', { reasoning_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  ['older', { reasoning_effort: 'low', thinking_budget_tokens: 2000 }, { thinking: enabled(2000) }],
  ['older', { reasoning_effort: 'low', thinking: enabled(2000) }, { thinking: enabled(2000) }],
  ['older', { thinking: enabled(2000) }, { thinking: enabled(2000) }],
  ['older', { thinking: disabled }, { thinking: disabled }],
]

/** What no tier takes. */
const contradictions: readonly JsonObject[] = [
  { reasoning_effort: 'low', reasoning: { effort: 'high' }, reasoning_budget_tokens: 2000 },
  { reasoning_effort: 'low', output_config: { effort: 'high' } },
  { reasoning: { effort: 'low' }, output_config: { effort: 'high' } },
  { reasoning: { budget_tokens: 1 }, reasoning_budget_tokens: 2 },
  { reasoning_budget_tokens: 1, thinking_budget_tokens: 2 },
  { thinking_budget_tokens: 1, thinking: enabled(2) },
  { thinking: { type: 'enabled' } },
  { thinking: { type: 'enabled' }, reasoning_budget_tokens: 2000 },
  { reasoning: 'high' },
  { thinking: true },
  { output_config: 'low' },
  { reasoning_effort: 3 },
  { reasoning_budget_tokens: 0 },
  { reasoning_budget_tokens: 1.5 },
  { reasoning_budget_tokens: 'many' },
]

function send(dialect: (typeof dialects)[keyof typeof dialects], model: string, says: JsonObject) {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], ...says }
  const route = { dialect, upstreamModel: model, extraBody: {} }
  return messagesRequest(route, { body, stream: false, dropped() {} })
}

const observed = ['thinking', 'output_config', 'temperature', 'top_p', 'top_k'] as const
const never = ['reasoning_effort', 'reasoning', 'reasoning_budget_tokens', 'thinking_budget_tokens']

describe.each(Object.entries(dialects))('%s', (_, dialect) => {
  test.each(rows)('%s: %j', (tier, says, sent) => {
    const run = () => send(dialect, models[tier], says).body
    if (sent === REFUSED) {
      expect(run).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400 }))
      return
    }
    const body = run()
    const seen = observed.filter((name) => name in body).map((name) => [name, body[name]])
    expect(Object.fromEntries(seen)).toEqual(sent as JsonObject)
    for (const name of never) expect(body).not.toHaveProperty(name)
  })

  test.each(contradictions.map((says) => [says]))('no tier takes %j', (says) => {
    for (const model of Object.values(models)) {
      expect(() => send(dialect, model, says)).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      )
    }
  })
})

describe('the beta that an effort needs on cloud_b_ml', () => {
  const says = { reasoning: { effort: 'low', budget_tokens: 2000 } }
  const beta = 'effort-2025-11-24'

  test('joins the others, once, in the body or header', () => {
    const betas = { anthropic_beta: ['x'] }
    expect(send(invokeMessages, models.mid, says).body.anthropic_beta).toEqual([beta])
    expect(send(invokeMessages, models.mid, { ...says, ...betas }).body.anthropic_beta).toEqual([
      'x',
      beta,
    ])
    const repeated = { ...says, anthropic_beta: [beta] }
    expect(send(invokeMessages, models.mid, repeated).body.anthropic_beta).toEqual([beta])
    const edge = send(edgeMessages, models.mid, { ...says, ...betas })
    expect(edge.betas).toEqual(['x', beta])
    expect(edge.body).not.toHaveProperty('anthropic_beta')
  })

  test('is not sent elsewhere', () => {
    expect(send(rawPredictMessages, models.mid, says).body).not.toHaveProperty('anthropic_beta')
    const newest = send(invokeMessages, models.newest, { reasoning_effort: 'low' })
    expect(newest.body).not.toHaveProperty('anthropic_beta')
  })
})
