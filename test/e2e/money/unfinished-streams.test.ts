import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import {
  ada,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  believable,
  type Exchange,
  frame,
  json,
  type Reply,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

/** What a user may spend in a day, and what a token costs: 500 of them use it up. */
const LIMIT_USD = 0.05
const TOKEN_USD = 0.0001
const PROMPT = 'Tell me about the sea.'

const hardLimit = { cadence: 'daily', amount_usd: String(LIMIT_USD) }
const names = [
  ...['left', 'guarded', 'broken', 'soft', 'counted'],
  ...['chat', 'messages', 'responses', 'held'],
]
const keys = Object.fromEntries(names.map((name) => [name, testKey(name)]))

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const routes = [{ provider: 'up', upstream_model: 'u' }]
  gateway = await startTestGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [
      { id: 'm', routes },
      { id: 'guarded', routes },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u',
          input_usd_per_million: '100',
          output_usd_per_million: '100',
        },
      ],
    },
    users: [
      ada,
      ...names.map((name) => ({
        name,
        email: `${name}@example.com`,
        budget: { ...hardLimit, hard_limit: name !== 'soft' },
        api_keys: [{ name: 'test', value: `literal.${keys[name]}`, all_models: true }],
      })),
    ],
    accounting: { abort_drain_secs: 0 },
    guardrails: {
      default: {},
      model_routes: {
        'guarded/up/u': {
          enabled: true,
          mode: 'deny',
          packs: ['core.shell'],
          stream_buffer_bytes: 8192,
        },
      },
    },
  })
}, 60_000)
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** Words of one token each. */
const WORDS = [' the', ' and', ' sea', ' was', ' with', ' that', ' from', ' water']
const wordAt = (index: number) => WORDS[index % WORDS.length] as string

const deltas = {
  chat: (text: string) =>
    frame({ model: 'u', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
  responses: (text: string) =>
    `event: response.output_text.delta\n${frame({ type: 'response.output_text.delta', delta: text })}`,
}
const bodies: Readonly<Record<string, JsonObject>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: PROMPT }] },
  '/v1/messages': { messages: [{ role: 'user', content: PROMPT }], max_tokens: 100_000 },
  '/v1/responses': { input: PROMPT },
}

/** How many words each call was sent, by request id. */
const said = new Map<string, number>()

/** Says `perFrame` words every few milliseconds until the caller goes, or `most` are said. */
function talks(
  perFrame: number,
  most = Number.POSITIVE_INFINITY,
  end?: (x: Exchange) => void | Promise<void>,
  gapMs = 5,
): Reply {
  return async (x) => {
    const id = x.call.headers['x-request-id'] as string
    const delta = x.call.path.endsWith('/responses') ? deltas.responses : deltas.chat
    await x.begin(200, { 'content-type': 'text/event-stream' })
    let words = 0
    while (words < most && !x.gone.aborted) {
      let text = ''
      for (let n = 0; n < perFrame; n++) text += wordAt(words++)
      await x.write(delta(text))
      said.set(id, words)
      await x.sleep(gapMs)
    }
    await end?.(x)
  }
}

beforeEach(() => said.clear())

interface Call {
  readonly path?: string
  readonly model?: string
  readonly key: string
}

/** Opens a stream. */
async function open({ path = '/v1/chat/completions', model = 'm', key }: Call) {
  const away = new AbortController()
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...bodies[path], model, stream: true }),
    signal: away.signal,
  })
  return { response, id: response.headers.get('x-request-id') as string, away }
}

interface Booked {
  readonly pricing_status: string
  readonly usage_doubt: string | null
  readonly input: number | null
  readonly output: number | null
  readonly usd: number
}

/** What the books have of a call, rejected charges included. */
function booked(requestId: string): Promise<Booked> {
  return eventually(async () => {
    const [row] = await gateway.sql<Booked[]>`
      select pricing_status, usage_doubt, prompt_tokens::int as input,
        completion_tokens::int as output, coalesce(cost_pico_usd, 0)::float8 / 1e12 as usd
      from (
        select request_id, pricing_status, usage_doubt, prompt_tokens, completion_tokens,
          cost_pico_usd from accounting.usage_cost_events
        union all
        select request_id, pricing_status, usage_doubt, prompt_tokens, completion_tokens,
          cost_pico_usd from accounting.budget_rejected_charges
      ) rows where request_id = ${requestId}`
    return row
  }, 15_000)
}

test('streams that are left early are charged, so that a hard limit holds', async () => {
  upstream.always(talks(20))
  let served = 0
  let calls = 0
  for (; calls < 20; calls++) {
    const { response, id, away } = await open({ key: keys.left as string })
    if (response.status === 429) break
    const reader = response.body?.getReader()
    let text = ''
    while (text.length < 2000) text += Buffer.from((await reader?.read())?.value ?? [])
    away.abort()
    const row = await booked(id)
    expect(row).toMatchObject({ pricing_status: 'legacy_estimated', usage_doubt: 'client_abort' })
    served += (said.get(id) ?? 0) * TOKEN_USD
  }
  expect(calls).toBeGreaterThan(1)
  expect(calls).toBeLessThan(20)
  // The limit, and one stream at most beyond it.
  expect(served).toBeLessThan(2 * LIMIT_USD)
}, 60_000)

test.each(['/v1/messages', '/v1/responses'])('so are those of %s', async (path) => {
  upstream.always(talks(10))
  const { response, id, away } = await open({ path, key: keys.soft as string })
  const reader = response.body?.getReader()
  let text = ''
  while (text.length < 4000) text += Buffer.from((await reader?.read())?.value ?? [])
  away.abort()
  const row = await booked(id)
  expect(row).toMatchObject({ pricing_status: 'legacy_estimated', usage_doubt: 'client_abort' })
  const words = said.get(id) ?? 0
  expect(row.input).toBe(6)
  expect(row.output).toBeWithin(words * 0.8, words + 1)
  expect(row.usd).toBeCloseTo(((row.input ?? 0) + (row.output ?? 0)) * TOKEN_USD)
})

test.each([
  ['only the rest is estimated', false],
  ['what they leave out is estimated, however often they come', true],
])('counters that came before the caller left are taken: %s', async (_, isRepeated) => {
  const usage = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 }
  upstream.always(async (x) => {
    await x.begin(200, { 'content-type': 'text/event-stream' })
    const choices = [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]
    await x.write(frame({ model: 'u', choices, usage }))
    for (let n = 0; n < 30; n++) {
      await x.sleep(2)
      await x.write(deltas.chat(wordAt(n)))
      if (isRepeated) await x.write(frame({ model: 'u', choices: [], usage }))
    }
    await x.sleep(30_000)
  })
  const { response, id, away } = await open({ key: keys.counted as string })
  const reader = response.body?.getReader()
  let text = ''
  while (text.split('"content"').length <= 30) {
    text += Buffer.from((await reader?.read())?.value ?? [])
  }
  away.abort()
  const row = await booked(id)
  expect(row).toMatchObject({
    pricing_status: 'legacy_estimated',
    usage_doubt: 'client_abort',
    input: 40,
  })
  // The estimate of a text is a token more or less, by the pieces in which it came.
  expect(row.output).toBeWithin(28, 34)
})

test('a stream whose connection breaks is charged by what it has said, and one that says nothing is not', async () => {
  upstream.always(talks(10, 200, (x) => x.reset()))
  const spoke = await open({ key: keys.broken as string })
  expect(await spoke.response.text()).toContain('upstream_transport')
  const row = await booked(spoke.id)
  expect(row).toMatchObject({ pricing_status: 'legacy_estimated', usage_doubt: 'stream_error' })
  expect(row.output).toBeWithin(150, 201)

  upstream.always(talks(10, 0, (x) => x.reset()))
  const silent = await open({ key: keys.broken as string })
  await silent.response.text()
  await eventually(async () => {
    const [logged] = await gateway.sql`
      select from request_log.request_logs where request_id = ${silent.id}`
    return logged
  })
  const rows = await gateway.sql`
    select from accounting.usage_cost_events where request_id = ${silent.id}`
  expect(rows).toHaveLength(0)
})

test('a guarded stream that is too large to be judged is charged', async () => {
  upstream.always(talks(10))
  const { response, id } = await open({ model: 'guarded', key: keys.guarded as string })
  expect(response.status).toBe(413)
  const row = await booked(id)
  expect(row).toMatchObject({
    pricing_status: 'legacy_estimated',
    usage_doubt: 'guarded_response_too_large',
  })
  expect(row.output).toBeGreaterThan(200)
})

/** Each API has the one that its clients stop for. */
function typeFor(path: string): string {
  if (path === '/v1/messages') return 'rate_limit_error'
  return path === '/v1/responses' ? 'usage_limit_reached' : 'budget_error'
}

test.each([
  ['chat', '/v1/chat/completions', 'm'],
  ['messages', '/v1/messages', 'm'],
  ['responses', '/v1/responses', 'm'],
  ['held', '/v1/chat/completions', 'guarded'],
] as const)(
  'parallel streams (%s) end when together they have used up a hard limit',
  async (name, path, model) => {
    upstream.always(talks(1, 1000, undefined, 50))
    const key = keys[name] as string
    const streams = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { response, id } = await open({ path, model, key })
        return { id, status: response.status, text: await response.text() }
      }),
    )
    let words = 0
    for (const { id, status, text } of streams) {
      expect(status).toBe(model === 'guarded' ? 429 : 200)
      const last = model === 'guarded' ? text : (text.trimEnd().split('\n\n').at(-1) as string)
      if (path === '/v1/messages') expect(last).toStartWith('event: error\n')
      const { error } = JSON.parse(last.slice(last.indexOf('{')))
      expect(error).toMatchObject({ type: typeFor(path), code: 'budget_exceeded' })
      expect(await booked(id)).toMatchObject({
        pricing_status: 'legacy_estimated',
        usage_doubt: 'budget_exceeded',
      })
      words += said.get(id) ?? 0
    }
    // 500 words are the limit; each stream is looked at once a second, and says 20 in that time.
    expect(words).toBeWithin(400, 1000)
    const { response } = await open({ path, key })
    expect(response.status).toBe(429)
    const [id] = streams.map((stream) => stream.id)
    const attempt = await eventually(async () => {
      const [row] = await gateway.sql`
        select r.error_code, a.status from request_log.request_logs r
        join request_log.request_log_attempts a on a.request_log_id = r.id
        where r.request_id = ${id as string}`
      return row
    })
    expect({ ...attempt }).toEqual({ error_code: 'budget_exceeded', status: 'stream_error' })
  },
  60_000,
)

test('a soft limit ends no stream', async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 900, total_tokens: 905 }
  upstream.always(
    talks(
      10,
      900,
      async (x) => {
        const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
        await x.write(frame({ model: 'u', choices, usage }))
        await x.write('data: [DONE]\n\n')
        await x.end()
      },
      20,
    ),
  )
  const { response, id } = await open({ key: keys.soft as string })
  expect(await response.text()).toEndWith('data: [DONE]\n\n')
  expect(await booked(id)).toMatchObject({ pricing_status: 'priced', output: 900 })
})

test.each([
  ['input', { prompt_tokens: 9e15, completion_tokens: 1, total_tokens: 9e15 + 1 }],
  ['output', { prompt_tokens: 1, completion_tokens: 5e7, total_tokens: 5e7 + 1 }],
  ['unsafe', { prompt_tokens: 1e300, completion_tokens: 1, total_tokens: 1e300 }],
  ['wholly unsafe', { prompt_tokens: 1e300, completion_tokens: 1e300 }],
  ['searches', { prompt_tokens: 1, completion_tokens: 1, num_search_queries: 1e9 }],
])('usage that no request can have had is not booked: %s', async (_, usage) => {
  const message = { role: 'assistant', content: 'hi' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  upstream.always(json({ model: 'u', choices, usage }))
  const response = await gateway.post('/v1/chat/completions', {
    ...bodies['/v1/chat/completions'],
    model: 'm',
  })
  const id = response.headers.get('x-request-id') as string
  expect(response.status).toBe(200)
  expect(await booked(id)).toEqual({
    pricing_status: 'usage_missing',
    usage_doubt: 'implausible_usage',
    input: null,
    output: null,
    usd: 0,
  })
  const logged = gateway.logs.find(({ requestId }) => requestId === id)
  expect(logged).toMatchObject({ level: 50, provider: 'up', upstreamModel: 'u' })
})

test('usage as large as the largest models allow is booked', async () => {
  const usage = { prompt_tokens: 9_000_000, completion_tokens: 900_000, total_tokens: 9_900_000 }
  upstream.always(believable({ usage }))
  const response = await gateway.post('/v1/chat/completions', {
    ...bodies['/v1/chat/completions'],
    model: 'm',
  })
  expect(await booked(response.headers.get('x-request-id') as string)).toMatchObject({
    pricing_status: 'priced',
    input: 9_000_000,
    output: 900_000,
  })
})
