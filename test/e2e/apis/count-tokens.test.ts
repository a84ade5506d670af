/** Counts of tokens over every kind of route, by the official client. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from 'model-gateway/plugin'
import { adminClient } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type Clouds, COUNTED, faultMessage, startClouds } from '../../harness/upstream-clouds.ts'
import { matrixConfig, routes } from '../providers/provider-matrix.fixture.ts'

const PROFILE = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
const profiles: Readonly<Record<string, string>> = {
  sonnet: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  newest: 'global.anthropic.claude-opus-4-8',
  profile: PROFILE,
  nova: 'amazon.nova-pro-v1:0',
}

let clouds: Clouds
let gateway: TestGateway
let client: Anthropic
beforeAll(async () => {
  clouds = await startClouds()
  const matrix = matrixConfig(clouds.providers)
  const bedrock = Object.entries(profiles).map(([id, upstream_model]) => ({
    id,
    routes: [
      {
        provider: 'cloud_b_ml',
        upstream_model,
        compatibility: { cloud_b_ml: { api_style: 'runtime_unified' } },
      },
    ],
  }))
  const vertex = { provider: 'cloud_a_ml', upstream_model: 'anthropic/claude-sonnet-4-6' }
  gateway = await startTestGateway({
    ...matrix,
    models: [
      ...(matrix.models as object[]),
      ...bedrock,
      { id: 'guarded', routes: [{ ...vertex, upstream_model: 'anthropic/claude-opus-4-6' }] },
      {
        id: 'uncounted',
        routes: [{ ...vertex, capabilities: { 'messages.count_tokens': false } }],
      },
    ],
    guardrails: {
      default: { enabled: false },
      managed_checks: {
        service: {
          kind: 'cloud_b_guardrail',
          phases: ['prompt'],
          failure_disposition: 'fail_closed',
          cloud_b_guardrail: {
            region: 'us-east-1',
            guardrail_identifier: 'g',
            guardrail_version: '1',
            auth: { kind: 'default_chain' },
          },
        },
      },
      model_routes: {
        'guarded/cloud_a_ml/anthropic/claude-opus-4-6': {
          enabled: true,
          mode: 'deny',
          managed_checks: ['service'],
        },
      },
    },
  })
  client = new Anthropic({ baseURL: gateway.url, apiKey: adaKey, maxRetries: 0, timeout: 60_000 })
})
beforeEach(() => clouds.clear())
afterAll(async () => {
  await gateway?.stop()
  await clouds?.stop()
})

const tool = {
  name: 'get_weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
}
const prompt = {
  system: 'You are a scientist.',
  messages: [{ role: 'user' as const, content: 'Hello, Claude' }],
  tools: [tool],
  tool_choice: { type: 'auto' as const },
}

async function count(model: string, more: JsonObject = {}) {
  const asked = { model, ...prompt, ...more } as Anthropic.MessageCountTokensParams
  const { data, response } = await client.messages.countTokens(asked).withResponse()
  const requestId = response.headers.get('x-request-id') as string
  return { data, requestId, estimated: response.headers.get('x-gateway-estimated') }
}

interface Logged {
  readonly operation: string
  readonly outcome: string
  readonly prompt_tokens: number | null
  readonly pricing_status: string | null
  readonly metadata_json: JsonObject
  readonly attempts: readonly { readonly status: string; readonly upstream_status: number }[]
}

/** What the log has of a request. */
async function logged(requestId: string): Promise<Logged> {
  return await eventually(async () => {
    const [row] = await gateway.sql<Logged[]>`
      select operation, outcome, prompt_tokens, pricing_status, metadata_json, (
        select coalesce(json_agg(a order by a.attempt_number), '[]')
        from request_log.request_log_attempts a where a.request_log_id = r.id) as attempts
      from request_log.request_logs r where request_id = ${requestId}`
    return row
  })
}

async function ledgerRows(): Promise<number> {
  const [row] = await gateway.sql`select count(*)::int as rows from accounting.usage_cost_events`
  return row?.rows
}

/** The prompt that a counter was sent, out of its wrapping. */
function sent(): JsonObject {
  const body = clouds.calls.at(-1)?.body as { input?: { invokeModel: { body: string } } }
  const inner = body.input?.invokeModel.body
  return inner === undefined ? body : JSON.parse(Buffer.from(inner, 'base64').toString())
}

const SONNET = 'claude-sonnet-4-6'
const OPUS = 'anthropic.claude-opus-4-7'
/** The counting endpoint of each upstream, and the fields that it gets in addition to the prompt. */
const counters: Readonly<Record<string, readonly [path: string, more?: JsonObject]>> = {
  rawPredict: [
    '/v1/projects/demo-project/locations/global/publishers/anthropic/models/count-tokens:rawPredict',
    { anthropic_version: 'vertex-2023-10-16', model: SONNET },
  ],
  converse: [
    `/model/${OPUS}/count-tokens`,
    { anthropic_version: 'bedrock-2023-05-31', max_tokens: 1 },
  ],
  invoke: [
    `/model/${OPUS}-v1%3A0/count-tokens`,
    { anthropic_version: 'bedrock-2023-05-31', max_tokens: 1 },
  ],
  edge: ['/anthropic/v1/messages/count_tokens', { model: 'anthropic.claude-opus-4-8' }],
  vendor: ['/v1/messages/count_tokens', { model: 'claude-opus-4-8' }],
  gemini: ['/v1beta/models/gemini-2.5-flash:countTokens'],
}
const serving = routes.filter(({ families }) => families.includes('messages'))

test.each(serving.map((route) => [route.id, route] as const))('%s', async (_, route) => {
  const { data, estimated, requestId } = await count(route.id)
  const counter = counters[route.id] ?? counters[route.wire]
  const row = await logged(requestId)
  expect(row).toMatchObject({ operation: 'messages.count_tokens', outcome: 'success' })
  if (counter === undefined) {
    expect(clouds.calls).toEqual([])
    expect([estimated, row.attempts]).toEqual(['true', []])
    expect(data).toEqual({ input_tokens: expect.any(Number) })
    expect(Math.abs(data.input_tokens - 500)).toBeLessThan(30)
    return
  }
  const [path, more] = counter
  expect([estimated, data]).toEqual([null, { input_tokens: COUNTED }])
  expect(clouds.calls).toHaveLength(1)
  expect(clouds.calls[0]).toMatchObject({ path, identity: route.identity })
  if (more) expect(sent()).toEqual({ ...more, ...prompt } as unknown as JsonObject)
  expect(row.attempts).toMatchObject([{ status: 'success' }])
})

describe('Bedrock', () => {
  test('counts by the model behind a profile', async () => {
    expect((await count('sonnet')).data.input_tokens).toBe(COUNTED)
    expect(clouds.calls.map(({ path }) => path)).toEqual([
      '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens',
    ])
  })

  test('counts at its edge what the runtime service does not, and asks that no more', async () => {
    const edge = '/anthropic/v1/messages/count_tokens'
    expect((await count('newest')).data.input_tokens).toBe(COUNTED)
    expect(clouds.calls.map(({ path, identity }) => [path, identity])).toEqual([
      ['/model/anthropic.claude-opus-4-8/count-tokens', 'signed bedrock'],
      [edge, 'signed bedrock-mantle'],
    ])
    clouds.clear()
    expect((await count('newest')).data.input_tokens).toBe(COUNTED)
    expect(clouds.calls.map(({ path }) => path)).toEqual([edge])
  })

  test.each(['profile', 'nova'])('does not count for every model: %s', async (model) => {
    expect((await count(model)).estimated).toBe('true')
    expect(clouds.calls).toEqual([])
  })
})

describe('what a counter takes', () => {
  const VERTEX = 'cloud_a_ml anthropic'

  test('is the prompt alone, with room for thoughts', async () => {
    const more = {
      ...{ max_tokens: 100, stream: true, temperature: 0.5, metadata: { user_id: 'u' } },
      ...{ anthropic_beta: ['later-2030-01-01'], context_management: { edits: [] } },
      ...{ tools: [], thinking: { type: 'enabled', budget_tokens: 2048 } },
    }
    await count(VERTEX, more)
    expect(Object.keys(sent()).sort()).toEqual(
      ['anthropic_version', 'messages', 'model', 'system', 'thinking'].sort(),
    )
    await count('sonnet', more)
    expect(sent()).toMatchObject({ max_tokens: 2049, thinking: { budget_tokens: 2048 } })
    for (const { headers } of clouds.calls) expect(headers).not.toHaveProperty('anthropic-beta')
  })

  test('is not a file that it would have to fetch: those are estimated', async () => {
    const source = { type: 'url', url: 'https://example.com/a.png' }
    const image = [{ type: 'image', source }]
    const results = [{ type: 'tool_result', tool_use_id: 't', content: image }]
    for (const content of [image, results]) {
      const { estimated, requestId } = await count('edge_native_messages', {
        messages: [{ role: 'user', content }],
      })
      expect([estimated, (await logged(requestId)).attempts]).toEqual(['true', []])
    }
    expect(clouds.calls).toEqual([])
  })

  test('is not a tool that the vendor runs: those are estimated, too', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
    expect((await count(VERTEX, { tools })).estimated).toBe('true')
  })

  test('is a valid prompt: the error for an invalid one says what is wrong', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: ' ' }] }]
    const error = await count(VERTEX, { messages }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect(error.message).toContain('text content blocks must be non-empty')
  })
})

describe('a counter that is down', () => {
  test.each(['throttled', 'refused'] as const)('is not missed: %s', async (fault) => {
    clouds.fault = fault
    const { data, estimated, requestId } = await count('edge_native_messages')
    expect([estimated, data.input_tokens > 450]).toEqual(['true', true])
    const row = await logged(requestId)
    expect(row.outcome).toBe('success')
    expect(row.attempts).toMatchObject([{ status: 'provider_error' }])
    expect(JSON.stringify(row.attempts)).toContain(faultMessage)
  })
})

test('what a guard would look at leaves the gateway for no count', async () => {
  expect((await count('guarded')).estimated).toBe('true')
  expect(clouds.calls).toEqual([])
})

test('a count costs nothing, and uses no request id up', async () => {
  const before = await ledgerRows()
  const headers = { 'x-request-id': 'counted-twice' }
  for (const model of ['generic_compat', 'edge_native_messages']) {
    await client.messages.countTokens({ model, ...prompt }, { headers })
  }
  const row = await logged('counted-twice')
  expect([row.prompt_tokens, row.pricing_status, row.metadata_json.priced]).toEqual([
    ...[null, null, false],
  ])
  const asked = { model: 'generic_compat', max_tokens: 9, ...prompt }
  await client.messages.create(asked, { headers })
  expect(await ledgerRows()).toBe(before + 1)
})

describe('who is refused', () => {
  const body = { model: 'generic_compat', ...prompt }
  const refusal = async (response: Response) => {
    const { type, error, request_id } = (await response.json()) as {
      type: string
      error: JsonObject
      request_id: string
    }
    expect([type, request_id]).toEqual(['error', response.headers.get('request-id') as string])
    return [response.status, error.type, error.code, error.message]
  }

  test.each([
    '/v1/messages/count_tokens',
    '/messages/count_tokens',
    '/v1/v1/messages/count_tokens',
  ])('a caller without a valid key, by %s', async (path) => {
    const response = await gateway.post(`${path}?beta=true`, body)
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([
      200,
      ['input_tokens'],
    ])
  })

  test.each<[string, JsonObject, string]>([
    ['nothing to count', { messages: [] }, 'messages must be'],
    ['a turn without a role', { messages: [{ content: 'x' }] }, 'messages.0.role'],
    ['a system prompt that is a number', { system: 7 }, 'system must be'],
    ['a route for embeddings', { model: 'cloud_a_ml predict' }, 'chat_completions'],
    ['a route whose config turns it off', { model: 'uncounted' }, 'messages.count_tokens'],
  ])('%s', async (_, more, words) => {
    const response = await gateway.post('/v1/messages/count_tokens', { ...body, ...more })
    expect(await refusal(response)).toEqual([
      ...[400, 'invalid_request_error', 'invalid_request', expect.stringContaining(words)],
    ])
  })

  // The last test, because all others use this key.
  test('a key that is revoked', async () => {
    const admin = await adminClient(gateway)
    const path = '/api/v1/admin/api-keys'
    const { items } = await admin.get<{ items: { api_key_id: string }[] }>(path)
    await admin.post(`${path}/${items[0]?.api_key_id}/revoke`)
    const response = await gateway.post('/v1/messages/count_tokens', body)
    expect(await refusal(response)).toEqual([
      ...[401, 'authentication_error', 'api_key_revoked', expect.any(String)],
    ])
  })
})
