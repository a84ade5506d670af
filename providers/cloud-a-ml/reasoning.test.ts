/** Every row of the table of reasoning tiers, on this cloud. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { lastBody, startVertex } from './testing.ts'

const vertex = await startVertex()
const { cloud } = vertex
beforeEach(() => {
  cloud.clear()
  cloud.answer = () => Response.json({ id: 'm', content: [], stop_reason: 'end_turn' })
})
afterAll(vertex.stop)

const call = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9000 }

/** What goes out about reasoning and sampling; `refused` when nothing does. */
async function outcome(model: string, fields: JsonObject): Promise<JsonObject | 'refused'> {
  const error = await vertex.run(`anthropic/${model}`, { ...call, ...fields }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) {
    const { anthropic_version, max_tokens, stream, messages, ...rest } = lastBody(cloud)
    return rest
  }
  expect(error).toMatchObject({ code: 'invalid_request', status: 400 })
  expect(cloud.calls).toEqual([])
  return 'refused'
}

const adaptive = { thinking: { type: 'adaptive' } }
const disabled = { thinking: { type: 'disabled' } }
const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
const effort = (level: string) => ({ output_config: { effort: level } })
const low = { reasoning_effort: 'low' }
const budget = { reasoning_budget_tokens: 2048 }

type Row = readonly [fields: JsonObject, expected: JsonObject | 'refused']

const tiers: Readonly<Record<string, { models: readonly string[]; rows: readonly Row[] }>> = {
  newest: {
    models: [
      'claude-opus-4-7',
      'claude-opus-4-8@default',
      'claude-opus-5',
      'claude-opus-5-5@20260801',
      'claude-sonnet-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-fable-5-2',
      'claude-mythos-5',
      'claude-mythos-5-1',
    ],
    rows: [
      [low, { ...adaptive, ...effort('low') }],
      [{ reasoning: { effort: 'max' } }, { ...adaptive, ...effort('max') }],
      [{ reasoning_effort: 'none' }, { ...adaptive, ...effort('none') }],
      [
        { ...low, ...adaptive, ...effort('low') },
        { ...adaptive, ...effort('low') },
      ],
      [effort('high'), effort('high')],
      [adaptive, adaptive],
      [enabled(2048), 'refused'],
      [budget, 'refused'],
      [{ reasoning: { budget_tokens: 2048 } }, 'refused'],
      [{ thinking_budget_tokens: 2048 }, 'refused'],
      [{ ...low, ...disabled }, 'refused'],
      [{ temperature: 1, top_p: 1 }, {}],
      [{ temperature: 0.5 }, 'refused'],
      [{ top_p: 0.9 }, 'refused'],
      [{ top_k: 40 }, 'refused'],
    ],
  },
  'previous two': {
    models: ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-sonnet-4-6@20260217'],
    rows: [
      [low, { ...adaptive, ...effort('low') }],
      [{ ...low, ...enabled(2048) }, 'refused'],
      [{ ...low, ...disabled }, 'refused'],
      [budget, enabled(2048)],
      [enabled(2048), enabled(2048)],
      [adaptive, adaptive],
      [
        { temperature: 0.5, top_k: 40 },
        { temperature: 0.5, top_k: 40 },
      ],
    ],
  },
  preview: {
    models: ['claude-mythos-preview'],
    rows: [
      [low, effort('low')],
      [disabled, 'refused'],
      [{ ...low, ...disabled }, 'refused'],
    ],
  },
  mid: {
    models: ['claude-opus-4-5', 'claude-opus-4-5@20251101'],
    rows: [
      [adaptive, 'refused'],
      [low, 'refused'],
      [
        { ...low, ...budget },
        { ...enabled(2048), ...effort('low') },
      ],
      [
        { ...low, ...enabled(2048) },
        { ...enabled(2048), ...effort('low') },
      ],
      [budget, enabled(2048)],
    ],
  },
  older: {
    models: [
      'claude-sonnet-4-5@20250929',
      'claude-haiku-4-5',
      'claude-opus-4-1@20250805',
      'claude-opus-4@20250514',
      'claude-3-5-haiku@20241022',
    ],
    rows: [
      [adaptive, 'refused'],
      [effort('low'), 'refused'],
      [low, 'refused'],
      [{ reasoning: { effort: 'low' } }, 'refused'],
      [budget, enabled(2048)],
      [{ reasoning: { budget_tokens: 2048 } }, enabled(2048)],
      [{ thinking_budget_tokens: 2048 }, enabled(2048)],
      [enabled(2048), enabled(2048)],
      [{ ...low, ...budget }, enabled(2048)],
    ],
  },
}

/** Contradictions, on any tier. */
const conflicts: readonly JsonObject[] = [
  { reasoning_effort: 'low', reasoning: { effort: 'high' } },
  { reasoning_effort: 'low', ...effort('high') },
  { reasoning: { effort: 'low' }, ...effort('high') },
  { reasoning_budget_tokens: 2048, thinking_budget_tokens: 4096 },
  { reasoning: { budget_tokens: 2048 }, ...enabled(4096) },
  { thinking: { type: 'enabled' } },
  { reasoning: 'low' },
]

for (const [tier, { models, rows }] of Object.entries(tiers)) {
  for (const model of models) {
    describe(`${tier}: ${model}`, () => {
      test.each(rows as [JsonObject, JsonObject | 'refused'][])('%j', async (fields, expected) => {
        expect(await outcome(model, fields)).toEqual(expected)
      })
      test('contradictions', async () => {
        for (const fields of conflicts) expect(await outcome(model, fields)).toBe('refused')
      })
    })
  }
}
