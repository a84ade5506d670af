/** Every cell of the support matrix, from a caller's socket to the upstream's and back. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { decodeSse, type StreamEvent, UNSIGNED } from 'model-gateway/wire'
import {
  foldMessages,
  grammarFault,
} from '../../../plugins/api-messages/to-chat/__fixtures__/messages.ts'
import { foldChat, gistOf } from '../../../providers/_shared/fold-chat.fixture.ts'
import { eventFaults, replyFaults } from '../../contract/client-shape.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { chatUsage, embeddingsUsage, responsesUsage, spoken } from '../../harness/upstream.ts'
import {
  type CloudFault,
  type Clouds,
  cloudSecrets,
  faultMessage,
  startClouds,
} from '../../harness/upstream-clouds.ts'
import {
  type Asked,
  asked,
  type MatrixRoute,
  matrixConfig,
  routes,
  type Scenario,
  scenarios,
  supportOf,
} from './provider-matrix.fixture.ts'
import { outboundFor, requestFor } from './provider-matrix-requests.fixture.ts'

let clouds: Clouds
let gateway: TestGateway
beforeAll(async () => {
  clouds = await startClouds()
  gateway = await startTestGateway(matrixConfig(clouds.providers))
})
beforeEach(() => clouds.clear())
afterAll(async () => {
  await gateway?.stop()
  await clouds?.stop()
})

/** Marks of the cells that were proved, by route and column. */
const proved = new Map<string, string>()
const marks: Record<Scenario, string> = {
  text: 'T',
  tools: 'C',
  results: 'R',
  images: 'I',
  reasoning: 'X',
  errors: 'E',
}
const columnOf = (family: Asked, stream: boolean) => `${family}${stream ? ' streamed' : ''}`

const THOUGHT = 'Downhill, I suppose.'
const TEXT = spoken.pieces.join('')

async function call(route: MatrixRoute, family: Asked, stream: boolean, scenario: Scenario) {
  const body = requestFor(route.id, family, stream, scenario)
  const response = await gateway.post(`/v1/${family.replace('_', '/')}`, body)
  const text = await response.text()
  for (const secret of cloudSecrets) expect(text).not.toContain(secret)
  return {
    status: response.status,
    text,
    requestId: response.headers.get('x-request-id') ?? '',
    json: () => JSON.parse(text) as JsonObject,
    async events() {
      expect(response.headers.get('content-type')).toStartWith('text/event-stream')
      return await eventsIn(text)
    },
  }
}
type Reply = Awaited<ReturnType<typeof call>>

async function eventsIn(text: string): Promise<StreamEvent[]> {
  async function* bytes() {
    yield Buffer.from(text)
  }
  const events: StreamEvent[] = []
  for await (const batch of decodeSse(bytes())) events.push(...batch)
  return events
}

/** What was charged for a call. */
async function ledgerRows(requestId: string) {
  const rows = await gateway.sql`
    select pricing_status as status, prompt_tokens::int as input, completion_tokens::int as output,
      cache_read_tokens::int as cached, reasoning_tokens::int as reasoning,
      cost_pico_usd::text as cost
    from accounting.usage_cost_events where request_id = ${requestId}`
  return rows.map((row) => ({ ...row }))
}

/** By the rates of every model here: 2.5, 0.25 and 10 USD per million. */
function chargeFor({ wire, style }: MatrixRoute, family: Asked, stream: boolean): object {
  if (family === 'embeddings') {
    const tokens = wire === 'openai' ? embeddingsUsage.prompt_tokens : 14
    return { status: 'priced', input: tokens, cost: String(tokens * 2_500_000) }
  }
  if (family === 'responses') {
    // (31 − 16) × 2.5 + 16 × 0.25 + 12 × 10.
    const { input_tokens: input, output_tokens: output } = responsesUsage
    return { status: 'priced', input, output, cached: 16, reasoning: 3, cost: '161500000' }
  }
  // A messages request has no way to ask such an upstream for its counters.
  if (family === 'messages' && stream && style?.endsWith('generic_chat') === true) {
    return { status: 'usage_missing' }
  }
  // (24 − 8) × 2.5 + 8 × 0.25 + 17 × 10.
  const { prompt_tokens: input, completion_tokens: output } = chatUsage
  return { status: 'priced', input, output, cached: 8, cost: '212000000' }
}

/** What a caller must get: the text or the call, thoughts in their place, the reason of the end. */
async function checkReply(
  route: MatrixRoute,
  family: Asked,
  stream: boolean,
  scenario: Scenario,
  reply: Reply,
): Promise<void> {
  const faults = stream
    ? eventFaults(family, await reply.events())
    : replyFaults(family, reply.json())
  expect(faults).toEqual([])
  const called = scenario === 'tools'
  const thinks = scenario === 'reasoning'
  if (family === 'embeddings') {
    const { object, data, model } = reply.json()
    expect([object, model]).toEqual(['list', route.id])
    const vectors = data as { index: number; embedding: number[] }[]
    expect(vectors.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 3],
      [1, 3],
    ])
  } else if (family === 'chat_completions') {
    const gist = stream ? foldChat(await reply.events()) : gistOf(reply.json())
    const fn = { name: 'get_weather', arguments: spoken.arguments.join('') }
    const signature = route.wire === 'openai' ? '' : 'c2ln'
    expect(gist).toMatchObject({
      content: called ? '' : TEXT,
      toolCalls: called ? [{ id: spoken.callId, type: 'function', function: fn }] : [],
      reasoning: thinks ? THOUGHT + signature : '',
      finishReason: called ? 'tool_calls' : 'stop',
      usage: { prompt_tokens: 24, completion_tokens: 17, total_tokens: 41 },
    })
  } else if (family === 'messages') {
    const events = stream ? await reply.events() : []
    if (stream) expect(grammarFault(events, 'complete')).toBeUndefined()
    const message = stream ? foldMessages(events) : reply.json()
    const signs = route.wire !== 'openai' && route.wire !== 'google'
    const signature = signs ? 'c2ln' : UNSIGNED
    const thinking = { type: 'thinking', thinking: THOUGHT, signature }
    const use = {
      type: 'tool_use',
      id: spoken.callId,
      name: 'get_weather',
      input: { city: 'Oslo' },
    }
    expect(message).toMatchObject({ type: 'message', role: 'assistant', model: route.id })
    expect(message.stop_reason).toBe(called ? 'tool_use' : 'end_turn')
    expect(message.content).toEqual([
      ...(thinks ? [thinking] : []),
      called ? use : { type: 'text', text: TEXT },
    ])
  } else {
    const events = stream ? await reply.events() : []
    if (stream) expect(events.filter(({ data }) => data === '[DONE]')).toHaveLength(1)
    const last = events.at(-2)?.json() as JsonObject | undefined
    const response = (stream ? last?.response : reply.json()) as JsonObject
    expect([response.status, response.model]).toEqual(['completed', route.id])
    expect(response.output).toMatchObject([
      ...(thinks ? [{ type: 'reasoning', summary: [{ text: THOUGHT }] }] : []),
      called
        ? { type: 'function_call', name: 'get_weather', arguments: spoken.arguments.join('') }
        : { type: 'message', content: [{ type: 'output_text', text: TEXT }] },
    ])
  }
}

function checkCalls(route: MatrixRoute, family: Asked, stream: boolean, scenario: Scenario): void {
  const [path] = route.path[family]?.slice(stream ? 1 : 0) ?? []
  for (const [index, sent] of clouds.calls.entries()) {
    expect(sent.path).toBe(path as string)
    expect(sent.identity.replace(/ http.*/, '')).toBe(route.identity)
    const body = outboundFor(route, family, stream, scenario)
    const second = { content: { parts: [{ text: 'sea' }] } }
    expect(sent.body).toEqual(index === 1 ? second : body)
  }
  expect(clouds.calls).toHaveLength(route.wire === 'embedContent' ? 2 : 1)
}

async function provesErrors(route: MatrixRoute, family: Asked, stream: boolean): Promise<void> {
  const ask = async (fault: CloudFault) => {
    clouds.fault = fault
    return await call(route, family, stream, 'errors')
  }
  const cases = [
    ['throttled', 429],
    ['refused', 502],
  ] as const
  for (const [fault, status] of cases) {
    const reply = await ask(fault)
    expect(reply.status).toBe(status)
    const { type, error } = reply.json() as { type?: string; error: JsonObject }
    expect(type).toBe(family === 'messages' ? 'error' : undefined)
    expect(error).toMatchObject({ gateway_code: 'upstream_http_error', message: faultMessage })
    expect(await ledgerRows(reply.requestId)).toEqual([])
  }
  if (!stream) return
  for (const fault of ['in_band', 'cut'] as const) {
    const reply = await ask(fault)
    expect(reply.status).toBe(200)
    const events = await reply.events()
    expect(reply.text).not.toMatch(/^data: \[DONE\]|^event: message_stop/m)
    const failures = events.filter(({ data }) => /"error":\{|"type":"error"/.test(data))
    expect(failures).toEqual(events.slice(-1))
    const said = fault === 'in_band' ? faultMessage : '"upstream_transport"'
    expect(events.at(-1)?.data).toContain(said)
    if (family === 'messages') expect(grammarFault(events.slice(0, -1), 'failed')).toBeUndefined()
  }
}

async function provesRefusal(
  route: MatrixRoute,
  family: Asked,
  stream: boolean,
  scenario: Scenario,
): Promise<void> {
  const reply = await call(route, family, stream, scenario)
  expect(reply.status).toBe(400)
  expect(reply.json()).toMatchObject({ error: { code: 'invalid_request' } })
  expect(clouds.calls).toEqual([])
  expect(await ledgerRows(reply.requestId)).toEqual([])
}

describe.each(routes.map((route) => [route.id, route] as const))('%s', (_, route) => {
  const columns = asked.flatMap((family) => [
    [family, false] as const,
    ...(family === 'embeddings' ? [] : [[family, true] as const]),
  ])
  describe.each(columns)('%s, streamed: %p', (family, stream) => {
    const cells = scenarios
      .map((scenario) => [scenario, supportOf(route, family, stream, scenario)] as const)
      .filter(([, support]) => support !== 'none')
    test.each(cells)('%s: %s', async (scenario, support) => {
      if (support === 'refused') {
        await provesRefusal(route, family, stream, scenario)
      } else if (scenario === 'errors') {
        await provesErrors(route, family, stream)
      } else {
        clouds.reasoning = scenario === 'reasoning' ? THOUGHT : undefined
        const reply = await call(route, family, stream, scenario)
        expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, ''])
        checkCalls(route, family, stream, scenario)
        await checkReply(route, family, stream, scenario, reply)
        expect(await ledgerRows(reply.requestId)).toMatchObject([chargeFor(route, family, stream)])
      }
      const key = `${route.id}/${columnOf(family, stream)}`
      const mark = support === 'refused' ? '4' : marks[scenario]
      const at = scenarios.indexOf(scenario)
      const row = (proved.get(key) ?? '·'.repeat(scenarios.length)).split('')
      row[at] = mark
      proved.set(key, row.join(''))
    })
  })
})

afterAll(() => {
  const columns = [...new Set([...proved.keys()].map((key) => key.split('/')[1] ?? ''))]
  const line = (cells: string[]) => cells.map((cell) => cell.padEnd(27)).join('')
  console.log(
    [
      'Proved: Text, Calls of tools, their Results, Images, reasoning (X), Errors;',
      '4: refused with 400, nothing sent; ·: the family has no such thing.',
      line(['', ...columns]),
      ...routes.map(({ id }) =>
        line([id, ...columns.map((column) => proved.get(`${id}/${column}`) ?? '')]),
      ),
    ].join('\n'),
  )
})

describe('the upstreams take nobody at their word', () => {
  const bodies = { model: 'x', messages: [] }
  const paths: Record<string, string> = {
    anthropic: '/v1/messages',
    gemini: '/v1beta/models/g:generateContent',
    azure_openai: '/openai/v1/chat/completions',
    generic_compat: '/chat/completions',
    cloud_a_serverless_compat: '/chat/completions',
    cloud_a_ml: '/v1/projects/demo-project/locations/global/publishers/google/models/g:predict',
    cloud_b_ml: '/model/m/converse',
  }

  test.each(Object.entries(paths))('%s', async (id, path) => {
    const provider = clouds.providers.find((one) => one.id === id) as Record<string, string>
    const base =
      provider.base_url ?? provider.endpoint ?? provider.api_host ?? provider.endpoint_url
    for (const authorization of ['', 'Bearer guessed', 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE']) {
      const headers = { authorization, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(bodies) }
      const { status } = await fetch(`${base}${path}`, init)
      expect([401, 403]).toContain(status)
    }
  })
})
