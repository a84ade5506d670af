/** Calls that clients do make, over clouds that refuse what the real ones refuse. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type Clouds, startClouds } from '../../harness/upstream-clouds.ts'

let clouds: Clouds
let gateway: TestGateway
beforeAll(async () => {
  clouds = await startClouds()
  const bedrock = (upstream_model: string, api_style: string) => ({
    provider: 'cloud_b_ml',
    upstream_model,
    capabilities: { stream: api_style !== 'runtime_native_invoke' },
    compatibility: { cloud_b_ml: { api_style } },
  })
  gateway = await startTestGateway({
    providers: clouds.providers,
    models: [
      { id: 'nova', routes: [bedrock('amazon.nova-pro-v1:0', 'runtime_unified')] },
      {
        id: 'converse',
        routes: [bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'runtime_unified')],
      },
      {
        id: 'invoke',
        routes: [bedrock('us.anthropic.claude-sonnet-4-6', 'runtime_native_invoke')],
      },
      { id: 'edge', routes: [bedrock('anthropic.claude-opus-4-8', 'edge_native_messages')] },
      {
        id: 'vertex',
        routes: [{ provider: 'cloud_a_ml', upstream_model: 'anthropic/claude-sonnet-4-6' }],
      },
    ],
  })
})
beforeEach(() => clouds.clear())
afterAll(async () => {
  await gateway?.stop()
  await clouds?.stop()
})

const MODELS = ['nova', 'converse', 'invoke', 'edge', 'vertex']
const LONG = 'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItem'
const hi = { role: 'user', content: 'Weather?' }
const tool = (name: string) => ({ type: 'function', function: { name } })
const history = (name: string) => [
  hi,
  { role: 'assistant', content: null, tool_calls: [{ id: 'c:1', ...tool(name) }] },
  { role: 'tool', tool_call_id: 'c:1', content: 'Rain.' },
  { role: 'user', content: 'And tomorrow?' },
]

async function chat(model: string, fields: JsonObject) {
  const body = { model, max_tokens: 99, messages: [hi], ...fields }
  const response = await gateway.post('/v1/chat/completions', body)
  const text = await response.text()
  return {
    status: response.status,
    text,
    dropped: response.headers.get('x-gateway-dropped'),
    sent: clouds.calls.at(-1)?.body ?? {},
  }
}

describe.each(MODELS)('%s', (model) => {
  test('a history with tools, offered or not any more', async () => {
    for (const fields of [{}, { tools: [] }, { tool_choice: 'none' }, { tools: [tool('f')] }]) {
      const { status, text } = await chat(model, { messages: history('get_weather'), ...fields })
      expect([status, text]).toEqual([200, expect.stringContaining('choices')])
    }
  })

  test('tool names that no cloud takes', async () => {
    for (const name of [LONG, 'fs.read', 'x'.repeat(200)]) {
      const { status } = await chat(model, { messages: history(name), tools: [tool(name)] })
      expect(status).toBe(200)
    }
  })

  test('a conversation cut off in its middle', async () => {
    const [, call, result, after] = history('get_weather')
    for (const messages of [
      [result, after],
      [call, after],
      [call, result],
      [hi, after, result],
    ]) {
      expect((await chat(model, { messages: messages as JsonObject[] })).status).toBe(200)
    }
  })

  test('neutral values say nothing', async () => {
    const { sent: plain } = await chat(model, {})
    const { status, dropped, sent } = await chat(model, {
      n: 1,
      frequency_penalty: 0,
      parallel_tool_calls: true,
      response_format: { type: 'text' },
      logprobs: false,
      stop: [],
      tools: [],
      user: '',
    })
    expect([status, dropped, sent]).toEqual([200, null, plain])
  })

  test('hints are left out and named', async () => {
    const { status, dropped } = await chat(model, {
      prompt_cache_key: 'k',
      store: true,
      verbosity: 'low',
    })
    expect([status, dropped]).toEqual([200, 'prompt_cache_key, store, verbosity'])
  })
})

test.each(['converse', 'vertex'])('one call of a tool at a time: %s', async (model) => {
  const { status, sent } = await chat(model, { tools: [tool('f')], parallel_tool_calls: false })
  expect(status).toBe(200)
  expect(JSON.stringify(sent)).toContain('"disable_parallel_tool_use":true')
  expect(sent).not.toHaveProperty('parallel_tool_calls')
})

test.each(['invoke', 'edge'])('what a native route refuses by the contract: %s', async (model) => {
  for (const control of [{ seed: 7 }, { tools: [tool('f')], parallel_tool_calls: false }]) {
    expect((await chat(model, control)).status).toBe(400)
  }
})

test('cache marks of a messages call become cache points, also of long-lived caches', async () => {
  const ephemeral = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } })
  const body = (model: string) => ({
    model,
    max_tokens: 99,
    system: [{ type: 'text', text: 'Be brief.', ...ephemeral('1h') }],
    tools: [{ name: 'f', input_schema: { type: 'object' }, ...ephemeral('1h') }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.', ...ephemeral('5m') }] }],
  })
  const headers = { 'x-api-key': 'unused' }
  const long = await gateway.post('/v1/messages', body('converse'), headers)
  expect([long.status, long.headers.get('x-gateway-dropped')]).toEqual([200, null])
  const hour = { cachePoint: { type: 'default', ttl: '1h' } }
  expect(clouds.calls.at(-1)?.body).toMatchObject({
    system: [{ text: 'Be brief.' }, hour],
    toolConfig: { tools: [{ toolSpec: { name: 'f' } }, hour] },
    messages: [{ content: [{ text: 'Hi.' }, { cachePoint: { type: 'default' } }] }],
  })
  const nova = await gateway.post('/v1/messages', body('nova'), headers)
  expect(nova.status).toBe(200)
  expect(nova.headers.get('x-gateway-dropped')).toBe(
    'messages[].content[].cache_control.ttl, tools[].cache_control',
  )
})

test.each(['nova', 'invoke', 'edge'])(
  'structured output names the style that has it: %s',
  async (model) => {
    const json_schema = { name: 'o', schema: { type: 'object' } }
    for (const format of [{ type: 'json_schema', json_schema }, { type: 'json_object' }]) {
      const { status, text } = await chat(model, { response_format: format })
      expect(status).toBe(400)
      expect(text).toMatch(/api_style \w+ has no structured output.*edge_generic_responses/)
    }
    expect(clouds.calls).toEqual([])
  },
)

/** As Claude Code begins: betas, edits, marks and a line that are for its vendor. */
test.each(['converse', 'invoke', 'edge', 'vertex'])(
  'what a coding agent sends its vendor goes through %s',
  async (model) => {
    const mark = { type: 'ephemeral', scope: 'global' }
    const body = {
      model,
      max_tokens: 99,
      messages: [hi],
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=00000;' },
        { type: 'text', text: 'You are an agent.', cache_control: mark },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' }, input_examples: [{}] }],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: 'user_1_account__session_2' },
    }
    const betas = [
      'claude-code-20250219',
      'interleaved-thinking-2025-05-14',
      'context-management-2025-06-27',
      'prompt-caching-scope-2026-01-05',
      'advanced-tool-use-2025-11-20',
      'extended-cache-ttl-2025-04-11',
    ]
    const headers = { 'anthropic-beta': betas.join(',') }
    const response = await gateway.post('/v1/messages', body, headers)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(response.headers.get('x-gateway-dropped')).not.toBeNull()
  },
)
