import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { OWN_THINKING, UNSIGNED } from 'model-gateway/wire'
import {
  edgeMessages,
  invokeMessages,
  type MessagesDialect,
  rawPredictMessages,
} from './messages-dialect.ts'
import { type NativeRoute, nativeRequest } from './messages-native.ts'

const hi = { role: 'user', content: 'hi' }
const minimal = { model: 'asked', max_tokens: 9, messages: [hi] }
const CLAUDE = 'anthropic.claude-sonnet-4-6'
/** As Claude Code sends them. */
const BETAS = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'prompt-caching-scope-2026-01-05',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
]

/** What goes out for a body, given as an object or as the caller's very text. */
function sent(
  dialect: MessagesDialect,
  body: JsonObject | string,
  { betas, ...more }: Partial<NativeRoute> & { header?: readonly string[] } = {},
) {
  const rawBody = typeof body === 'string' ? body : JSON.stringify({ ...minimal, ...body })
  const parsed = JSON.parse(rawBody) as JsonObject
  const dropped: string[] = []
  const route = { dialect, upstreamModel: CLAUDE, extraBody: {}, betas, ...more }
  const request = nativeRequest(route, {
    body: parsed,
    rawBody,
    stream: parsed.stream === true,
    dropped: (name) => void dropped.push(name),
    ...(more.header && { headers: { 'anthropic-beta': more.header.join(', ') } }),
  })
  const text = request.body.text()
  return { text, body: JSON.parse(text) as JsonObject, betas: request.betas, dropped }
}

const hosts = { rawPredictMessages, invokeMessages, edgeMessages }
const owned = ['model', 'stream', 'anthropic_version']
const without = (body: JsonObject) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !owned.includes(name)))

describe.each(Object.entries(hosts))('%s', (_, dialect) => {
  test('a request is sent unchanged except for model, version and stream', () => {
    const block = fc.record({ type: fc.string(), text: fc.jsonValue(), [`x${1}`]: fc.jsonValue() })
    const turn = fc.record({ role: fc.string(), content: fc.array(block) })
    const document = fc.record(
      {
        messages: fc.array(turn, { minLength: 1 }),
        system: fc.array(block),
        tools: fc.array(block),
        metadata: fc.jsonValue(),
        unheard_of: fc.jsonValue(),
        stop_sequences: fc.array(fc.string()),
        stream: fc.boolean(),
      },
      { requiredKeys: ['messages'] },
    )
    fc.assert(
      fc.property(document, (members) => {
        const body = { ...minimal, ...(members as JsonObject) }
        expect(without(sent(dialect, body).body)).toEqual(without(JSON.parse(JSON.stringify(body))))
      }),
    )
  })

  test('other members keep each byte and digit', () => {
    const messages = `[ {"role":"user", "content":[{"type":"tool_use","input":{"id":12345678901234567890}}]} ]`
    const { text } = sent(
      dialect,
      `{"model":"asked","max_tokens":9,"messages":${messages},"z":1.0}`,
    )
    expect(text).toContain(`"messages":${messages},"z":1.0`)
  })

  test('vendor-specific lines of an agent are not sent', () => {
    const billing = 'x-anthropic-billing-header: cc_version=2.1.0; cch=1a2b3;'
    const prompt = { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }
    const blocks = sent(dialect, { system: [{ type: 'text', text: billing }, prompt] })
    expect(blocks.body.system).toEqual([prompt])
    expect(sent(dialect, { system: `${billing}\nBe kind.` }).body.system).toBe('Be kind.')
    expect(sent(dialect, { system: `Say ${billing}` }).body.system).toBe(`Say ${billing}`)
  })

  test('thinking is sent only if an upstream has signed it', () => {
    const signed = { type: 'thinking', thinking: 'hm', signature: 'changed' }
    const sealed = { type: 'redacted_thinking', data: `${OWN_THINKING}e30=` }
    const content = [{ type: 'thinking', thinking: 'ah', signature: UNSIGNED }, sealed, signed]
    const { body } = sent(dialect, { messages: [hi, { role: 'assistant', content }, hi] })
    expect(body.messages).toEqual([hi, { role: 'assistant', content: [signed] }, hi])
  })
})

test('versions, models and streams, per host', () => {
  const of = (dialect: MessagesDialect, body: JsonObject = {}) => {
    const { model, stream, anthropic_version } = sent(dialect, body).body
    return { model, stream, anthropic_version }
  }
  expect(of(rawPredictMessages, { anthropic_version: 'v' })).toEqual({
    model: undefined,
    stream: false,
    anthropic_version: 'vertex-2023-10-16',
  })
  expect(of(invokeMessages, { stream: false })).toEqual({
    model: undefined,
    stream: undefined,
    anthropic_version: 'bedrock-2023-05-31',
  })
  expect(of(edgeMessages, { stream: true, anthropic_version: 'v' })).toEqual({
    model: CLAUDE,
    stream: true,
    anthropic_version: undefined,
  })
})

describe('betas', () => {
  const request = { context_management: { edits: [] } }

  test('are sent if the cloud supports them, under its names; others are reported', () => {
    const vertex = sent(rawPredictMessages, request, { header: BETAS })
    expect(vertex.body.anthropic_beta).toEqual([
      'interleaved-thinking-2025-05-14',
      'context-management-2025-06-27',
      'tool-search-tool-2025-10-19',
    ])
    expect(vertex.body.context_management).toEqual({ edits: [] })
    expect(vertex.dropped).toEqual([
      'anthropic_beta.claude-code-20250219',
      'anthropic_beta.prompt-caching-scope-2026-01-05',
      'anthropic_beta.effort-2025-11-24',
    ])
    const edge = sent(edgeMessages, request, { header: BETAS })
    expect(edge.betas).toContain('claude-code-20250219')
    expect(edge.body).not.toHaveProperty('anthropic_beta')
  })

  test('those of the body are merged', () => {
    const { body } = sent(
      invokeMessages,
      { anthropic_beta: ['compact-2026-01-12'] },
      { header: [] },
    )
    expect(body.anthropic_beta).toEqual(['compact-2026-01-12'])
  })

  test.each([
    ['anthropic.claude-3-5-haiku-20241022-v1:0', []],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', ['output-128k-2025-02-19']],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', ['interleaved-thinking-2025-05-14']],
    ['anthropic.claude-opus-4-8', []],
  ])('depend on the family of the model: %s', (upstreamModel, taken) => {
    const header = ['output-128k-2025-02-19', 'interleaved-thinking-2025-05-14']
    const { body } = sent(invokeMessages, {}, { upstreamModel, header })
    const expected = upstreamModel.includes('-3-5-') ? ['output-128k-2025-02-19'] : taken
    expect(body.anthropic_beta ?? []).toEqual(expected)
  })

  test('a route adds some and removes others', () => {
    const betas = { add: ['files-api-2025-04-14'], remove: ['context-management-2025-06-27'] }
    const { body, dropped } = sent(rawPredictMessages, request, { header: BETAS, betas })
    expect(body.anthropic_beta).toEqual([
      'interleaved-thinking-2025-05-14',
      'tool-search-tool-2025-10-19',
      'files-api-2025-04-14',
    ])
    expect(body).not.toHaveProperty('context_management')
    expect(dropped).toContain('context_management')
  })

  test('members that need a beta are sent only with the beta', () => {
    const tool = { name: 'f', input_schema: {}, input_examples: [{}], defer_loading: true }
    const mark = { type: 'ephemeral', scope: 'global' }
    const body = {
      tools: [tool],
      system: [{ type: 'text', text: 'a', cache_control: mark }],
    }
    const vertex = sent(rawPredictMessages, body, { header: BETAS })
    expect(vertex.body.tools).toEqual([{ name: 'f', input_schema: {}, defer_loading: true }])
    expect(vertex.body.system).toEqual([
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
    ])
    expect(vertex.dropped).toContain('tools[].input_examples')
    expect(vertex.dropped).toContain('system[].cache_control.scope')
    expect(sent(invokeMessages, body, { header: BETAS }).body.tools).toEqual([tool])
    // Without the beta it is the caller's own affair.
    expect(sent(rawPredictMessages, body).body).toMatchObject(body)
  })

  test('members that change the answer are refused by name, unless the route drops them', () => {
    const body = { mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] }
    const header = ['mcp-client-2025-11-20']
    expect(() => sent(rawPredictMessages, body, { header })).toThrow('mcp_servers')
    const drop = { header, unsupportedParams: 'drop' } as const
    expect(sent(rawPredictMessages, body, drop).body).not.toHaveProperty('mcp_servers')
  })

  test('a header of 10 KB is dropped, and reported in short', () => {
    const header = [...Array.from({ length: 400 }, (_, i) => `unknown-beta-${i}`), 'x'.repeat(5000)]
    const { body, dropped } = sent(rawPredictMessages, {}, { header })
    expect(body).not.toHaveProperty('anthropic_beta')
    expect(dropped.length).toBeLessThan(20)
    expect(dropped).toContain('anthropic_beta')
  })
})

describe('the tiers of reasoning', () => {
  const newest = { upstreamModel: 'claude-opus-4-8' }

  test('are those of chat', () => {
    const enabled = { thinking: { type: 'enabled', budget_tokens: 9 } }
    expect(() => sent(edgeMessages, enabled, newest)).toThrow('thinking budgets are not supported')
    expect(() => sent(edgeMessages, { temperature: 0.5 }, newest)).toThrow('temperature must be 1')
    expect(sent(edgeMessages, { temperature: 1 }, newest).body).not.toHaveProperty('temperature')
    const older = { upstreamModel: 'claude-sonnet-4-5' }
    const adaptive = { thinking: { type: 'adaptive' } }
    expect(() => sent(edgeMessages, adaptive, older)).toThrow('adaptive is not supported')
    expect(sent(edgeMessages, enabled, older).body).toMatchObject(enabled)
  })

  test('an effort is sent, with its beta if needed', () => {
    const effort: JsonValue = { output_config: { effort: 'low', format: { type: 'x' } } }
    expect(sent(edgeMessages, effort, newest)).toMatchObject({ body: effort, betas: [] })
    const opus = { upstreamModel: 'claude-opus-4-5' }
    expect(sent(invokeMessages, effort, opus).body.anthropic_beta).toEqual(['effort-2025-11-24'])
  })
})

test.each([
  ['anthropic.claude-opus-4-8', edgeMessages, false],
  ['claude-opus-4-8', rawPredictMessages, true],
])('a strict tool for %s', (upstreamModel, dialect, isSent) => {
  const tools = [{ name: 'f', input_schema: {}, strict: true }]
  const { body } = sent(dialect, { tools }, { upstreamModel })
  expect(JSON.stringify(body.tools).includes('strict')).toBe(isSent)
})

test('extra_body is merged last', () => {
  const extraBody = { thinking: { budget_tokens: 7 }, top_k: 3 }
  const thinking = { type: 'enabled', budget_tokens: 5 }
  const { body } = sent(rawPredictMessages, { thinking }, { extraBody })
  expect(body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 7 }, top_k: 3 })
})
