/** Streams as real upstreams send them: what the caller gets, and what the ledger has. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { bytes, type Reply, sse, startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = (profile?: JsonObject) => [
    {
      provider: 'up',
      upstream_model: 'u',
      ...(profile && { compatibility: { generic_compat: profile } }),
    },
  ]
  gateway = await startTestGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [
      { id: 'm', routes: route() },
      { id: 'asked', routes: route({ supports_stream_usage: true, usage_chunks: 'asked' }) },
    ],
    pricing: {
      overrides: [
        {
          ...{ pricing_provider_id: 'test', model: 'u' },
          ...{ input_usd_per_million: '1', output_usd_per_million: '2' },
        },
      ],
    },
  })
}, 60_000)
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

let counter = 0

type Api = 'chat/completions' | 'messages' | 'responses'

async function send(reply: Reply, api: Api, more: JsonObject = {}) {
  upstream.clear()
  upstream.script(reply)
  const id = `tolerant-${++counter}`
  const input =
    api === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }
  const body = { model: 'm', stream: true, max_tokens: 100, ...input, ...more }
  const response = await gateway.post(`/v1/${api}`, body, { 'x-request-id': id })
  const text = await response.text()
  const row = await eventually(async () => {
    const rows = await gateway.sql`
      select r.outcome, a.status as attempt,
        (select pricing_status || ': ' || coalesce(usage_doubt, 'no doubt') || ', ' || prompt_tokens
            || ' in, ' || completion_tokens || ' out'
          from accounting.usage_cost_events where request_id = ${id}) as price
      from request_log.request_logs r
      join request_log.request_log_attempts a on a.request_log_id = r.id
      where r.request_id = ${id}`
    return rows[0]
  })
  return { response, text, events: eventsIn(text), row: { ...row } }
}

interface Told {
  readonly event: string | undefined
  readonly data: JsonObject
}

/** The events of a stream that are JSON. */
function eventsIn(text: string): Told[] {
  return text.split(/\n\n|\r\n\r\n/).flatMap((block) => {
    const data = /^data: ?(\{.*)$/m.exec(block)?.[1]
    if (data === undefined) return []
    return [{ event: /^event: ?(.*)$/m.exec(block)?.[1], data: JSON.parse(data) }]
  })
}

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const priced = { outcome: 'success', attempt: 'success', price: 'priced: no doubt, 3 in, 5 out' }
const chunk = (more: JsonObject) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'u', ...more })}\n\n`
const said = (content: string) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const finished = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
const counted = chunk({ choices: [], usage })
const DONE = 'data: [DONE]\n\n'

const event = (type: string, more: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const response = (status: string, more: JsonObject = {}) => ({
  response: {
    ...{ id: 'r', object: 'response', created_at: 1, model: 'u', status, output: [] },
    usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
    ...more,
  },
})
const begun = event('response.created', response('in_progress', { usage: null }))

describe('events without anything for the caller', () => {
  const harmless = [
    'data: {"type":"ping"}\n\n',
    'data: {"id":"x","object":"chat.completion.chunk"}\n\n',
    'event: ping\ndata: {}\n\n',
    'data: heartbeat\n\n',
    'retry: 10\n\n: OPENROUTER PROCESSING\n\n',
  ]

  test.each(['chat/completions', 'messages'] as const)('do not end a stream: %s', async (api) => {
    const body = ['a', 'b', 'c', 'd', 'e'].flatMap((text, at) => [said(text), harmless[at] ?? ''])
    const { text, events, row } = await send(sse([...body, finished, counted, DONE]), api)
    expect(text).not.toContain('error')
    const told = events.map(({ data }) => JSON.stringify(data)).join('')
    for (const letter of 'abcde') expect(told).toContain(`"${letter}"`)
    expect(told).not.toContain('ping')
    expect(row).toEqual(priced)
    if (api === 'messages') return
    expect(events.every(({ data }) => Array.isArray(data.choices))).toBe(true)
  })

  test.each([
    [
      'chat/completions',
      (n: number) => `data: {"type":"unknown_${n}","text":"${'x'.repeat(200)}"}\n\n`,
    ],
    ['responses', (n: number) => event(`response.unknown_${n}`, { text: 'x'.repeat(200) })],
  ] as const)(
    'are read by the thousand in flat memory: %s',
    async (api, unknown) => {
      const end =
        api === 'responses'
          ? [event('response.completed', response('completed'))]
          : [said('end'), finished, counted, DONE]
      const reply: Reply = async (x) => {
        await x.begin(200, { 'content-type': 'text/event-stream' })
        if (api === 'responses') await x.write(begun)
        for (let n = 0; n < 10_000; n += 100) {
          await x.write(Array.from({ length: 100 }, (_, at) => unknown(n + at)).join(''))
        }
        for (const last of end) await x.write(last)
        await x.end()
      }
      const { events, row } = await send(reply, api)
      expect(row).toEqual(priced)
      if (api === 'responses') {
        expect(events).toHaveLength(10_002)
        expect(events.map(({ data }) => data.sequence_number)).toEqual([...events.keys()])
      } else expect(events).toHaveLength(3)
    },
    30_000,
  )
})

describe('the end of a response is its status', () => {
  test.each([
    ['response.completed', 'incomplete', 'incomplete'],
    ['response.done', 'completed', 'completed'],
    ['response.incomplete', 'incomplete', 'incomplete'],
  ])('%s with the status %s', async (name, status, end) => {
    const { text, events, row } = await send(
      sse([begun, event(name, response(status))]),
      'responses',
    )
    expect(events.at(-1)).toMatchObject({
      event: `response.${end}`,
      data: { type: `response.${end}`, sequence_number: 1, response: { status: end, model: 'm' } },
    })
    expect(text).toEndWith(DONE)
    expect(row).toEqual(priced)
  })

  test.each([
    ['response.completed', 'failed', 'failed'],
    ['response.cancelled', 'cancelled', 'cancelled'],
  ])('%s with the status %s, without [DONE]', async (name, status, end) => {
    const { text, events, row } = await send(
      sse([begun, event(name, response(status))]),
      'responses',
    )
    expect(events.at(-1)).toMatchObject({
      event: `response.${end}`,
      data: { type: `response.${end}`, response: { status: end } },
    })
    expect(text).not.toContain(DONE)
    expect(row).toEqual({
      ...{ outcome: 'upstream_error', attempt: 'stream_error' },
      price: 'legacy_estimated: stream_error, 3 in, 5 out',
    })
  })

  test.each([
    ['incomplete', 'success', 'priced: no doubt'],
    ['failed', 'upstream_error', 'legacy_estimated: provider_error'],
    ['cancelled', 'upstream_error', 'legacy_estimated: provider_error'],
    ['queued', 'success', 'priced: no doubt'],
    ['in_progress', 'success', 'priced: no doubt'],
  ])('in a whole reply, too: %s', async (status, outcome, price) => {
    const reply = bytes(JSON.stringify(response(status).response), 'application/json')
    const sent = await send(reply, 'responses', { stream: false })
    expect(sent.response.status).toBe(200)
    expect(JSON.parse(sent.text)).toMatchObject({ status, model: 'm' })
    expect(sent.row).toMatchObject({ outcome, price: `${price}, 3 in, 5 out` })
  })
})

describe('a stream that is cut', () => {
  const cut: [string, string | Uint8Array][] = [
    ['in an event', 'data: {"choices":[{"index":0,'],
    ['in a character', Uint8Array.of(...Buffer.from('data: {"content":"'), 0xe2, 0x82)],
    ['by a broken character', Uint8Array.of(...Buffer.from('data: "'), 0xff, 0x22, 0x0a, 0x0a)],
    ['after an event', ''],
  ]
  test.each(cut)('is charged for what it had counted: %s', async (_, end) => {
    const body = Buffer.concat([Buffer.from(said('a') + counted), Buffer.from(end)])
    const { text, events, row } = await send(bytes(body, 'text/event-stream'), 'chat/completions')
    expect(events.at(-1)?.data).toMatchObject({ error: { code: 'upstream_transport' } })
    expect(text).not.toContain(DONE)
    expect(row).toEqual({
      ...{ outcome: 'upstream_error', attempt: 'stream_error' },
      price: 'legacy_estimated: stream_error, 3 in, 5 out',
    })
  })

  test('ends for callers of responses with a numbered error event', async () => {
    const { events } = await send(sse([begun, 'event: response.comp']), 'responses')
    expect(events.at(-1)).toMatchObject({
      event: 'error',
      data: {
        ...{ type: 'error', sequence_number: 1, code: 'upstream_transport', param: null },
        ...{ message: expect.any(String), error: { type: 'upstream_error' } },
      },
    })
  })
})

test.each(['text/plain', '', 'application/octet-stream'])(
  'a stream of the media type %j is one, and a whole reply is told as one',
  async (type) => {
    const body = said('a') + finished + counted + DONE
    const streamed = await send(bytes(body, type), 'chat/completions')
    expect(streamed.events).toHaveLength(3)
    expect(streamed.row).toEqual(priced)
    const choices = [{ message: { content: 'whole' }, finish_reason: 'stop' }]
    const whole = bytes(JSON.stringify({ model: 'u', choices, usage }), type)
    for (const api of ['chat/completions', 'messages'] as const) {
      const told = await send(whole, api)
      expect(told.text).toContain('whole')
      expect(told.row).toEqual(priced)
    }
    const collected = await send(bytes(body, type), 'chat/completions', { stream: false })
    expect(JSON.parse(collected.text)).toMatchObject({
      ...{ object: 'chat.completion', model: 'm', usage },
      choices: [{ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    })
    expect(collected.row).toEqual(priced)
  },
)

describe('usage_chunks: asked', () => {
  const reply = () => sse([said('a'), finished, counted, DONE])

  test('keeps counters from callers that did not ask, and counts them', async () => {
    const quiet = await send(reply(), 'chat/completions', { model: 'asked' })
    expect(quiet.events).toHaveLength(2)
    expect(quiet.row).toEqual(priced)
    const options = { stream_options: { include_usage: true } }
    const asked = await send(reply(), 'chat/completions', { model: 'asked', ...options })
    expect(asked.events.at(-1)?.data).toMatchObject({ choices: [], usage })
    const converted = await send(reply(), 'messages', { model: 'asked' })
    expect(converted.text).toContain('"output_tokens":5')
    const always = await send(reply(), 'chat/completions')
    expect(always.events).toHaveLength(3)
  })
})
