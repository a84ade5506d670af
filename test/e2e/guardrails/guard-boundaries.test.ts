import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { believable, sse, startUpstream, type Upstream } from '../../harness/upstream.ts'
import { BUFFER_BYTES, inspected } from './__fixtures__/keyword-guard.ts'

const fixture = new URL('./__fixtures__/keyword-guard.ts', import.meta.url).pathname

const DENIED = 1500

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = { provider: 'up', upstream_model: 'u' }
  gateway = await startTestGateway({
    plugins: [
      ...Object.keys(builtins)
        .filter((name) => name !== 'guardrails')
        .map((name) => ({ use: `builtin:${name}` })),
      { use: fixture },
    ],
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [
      { id: 'm', routes: [route] },
      { id: 'free', routes: [route] },
    ],
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})
beforeEach(() => {
  upstream.clear()
  inspected.length = 0
})

/** Integers below a bound, the same ones for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Surface = 'chat' | 'messages' | 'responses'
const surfaces: readonly Surface[] = ['chat', 'messages', 'responses']
const paths = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const

const parameters = { type: 'object', properties: { city: { type: 'string' } } }

/** The same question in each API, with a tool when asked for. */
function ask(surface: Surface, text: string, stream: boolean, tool = false): JsonObject {
  const common = { model: 'm', stream }
  if (surface === 'responses') {
    const tools = [{ type: 'function', name: 'weather', parameters }]
    return { ...common, input: text, ...(tool && { tools }) }
  }
  const messages = [{ role: 'user', content: text }]
  if (surface === 'messages') {
    const tools = [{ name: 'weather', input_schema: parameters }]
    return { ...common, max_tokens: 50, messages, ...(tool && { tools }) }
  }
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
  return { ...common, messages, ...(tool && { tools }) }
}

async function send(surface: Surface, body: JsonObject) {
  const response = await gateway.post(paths[surface], body)
  const id = response.headers.get('x-request-id') ?? ''
  return { status: response.status, text: await response.text(), id }
}

interface Logged {
  outcome: string
  status_code: number
  attempts: string[] | null
  charged: boolean
  invoked: number | null
  request: string
  response: string
}

const logged = (id: string): Promise<Logged> =>
  eventually(async () => {
    const [row] = await gateway.sql<Logged[]>`
      select r.outcome, r.status_code,
        (select array_agg(a.status) from request_log.request_log_attempts a
          where a.request_log_id = r.id) as attempts,
        exists (select from accounting.usage_cost_events e where e.request_id = r.request_id)
          as charged,
        r.invoked_tool_count as invoked, p.request_json::text as request, p.response_json::text as response
      from request_log.request_logs r
      join request_log.request_log_payloads p on p.request_log_id = r.id
      where r.request_id = ${id}`
    return row
  })

const modes = surfaces.flatMap((surface) =>
  [false, true].map((stream) => ({ surface, stream, as: stream ? 'streamed' : 'buffered' })),
)

test('a masked stream is charged by its latest coherent usage, like others', async () => {
  const frame = (content: string, completion_tokens: number, finish_reason: string | null) =>
    `data: ${JSON.stringify({
      choices: [{ index: 0, delta: { content }, finish_reason }],
      usage: { prompt_tokens: 9, completion_tokens },
    })}\n\n`
  upstream.script(sse([frame('a SECRET', 4, null), frame('', -1, 'stop')]))
  const { text, id } = await send('chat', ask('chat', 'hello', true))
  expect(text).toContain('a MASKED')
  const [row] = await gateway.sql`
    select prompt_tokens, completion_tokens, usage_doubt
    from accounting.usage_cost_events where request_id = ${id}`
  expect(row).toEqual({
    prompt_tokens: '9',
    completion_tokens: '4',
    usage_doubt: 'negative_count',
  })
})

describe.each(modes)('$surface, $as', ({ surface, stream }) => {
  test('what is fine passes as it is without a guard', async () => {
    const guarded = await send(surface, ask(surface, 'hello', stream))
    const free = await send(surface, { ...ask(surface, 'hello', stream), model: 'free' })
    expect(guarded.status).toBe(200)
    expect(guarded.text.replaceAll('"m"', '"free"').replaceAll(guarded.id, free.id)).toBe(free.text)
    expect(inspected.map(({ phase }) => phase)).toEqual(['prompt', 'model_response'])
  })

  test('a denied prompt reaches no provider, costs nothing and is not logged', async () => {
    const { status, text, id } = await send(surface, ask(surface, 'say FORBIDDEN', stream))
    expect(status).toBe(403)
    const { error } = JSON.parse(text)
    expect(error.code).toBe('guardrail_denied')
    expect(error.message).toBe('denied by keyword')
    expect(upstream.journal.calls).toEqual([])
    const row = await logged(id)
    expect(row).toMatchObject({ outcome: 'guardrail_denied', attempts: null, charged: false })
    expect(row.request).not.toContain('FORBIDDEN')
    expect(row.request).toContain('decision-1')
  })

  test('a masked prompt is what the provider gets and what is logged', async () => {
    const { status, id } = await send(surface, ask(surface, 'my SECRET', stream))
    expect(status).toBe(200)
    const sent = JSON.stringify(upstream.journal.calls[0]?.body)
    expect(sent).toContain('my MASKED')
    expect(sent).not.toContain('SECRET')
    expect((await logged(id)).request).not.toContain('SECRET')
  })

  test('a denied reply is paid for, and none of it leaves', async () => {
    upstream.script(believable({ pieces: ['All of ', 'this is FORB', 'IDDEN.'] }))
    const { status, text, id } = await send(surface, ask(surface, 'hello', stream))
    expect(status).toBe(403)
    expect(text).not.toContain('All of')
    const row = await logged(id)
    expect(row).toMatchObject({
      outcome: 'guardrail_denied',
      attempts: ['success'],
      charged: true,
      invoked: 0,
    })
    expect(row.response).not.toContain('FORB')
  })

  test('a denied tool call counts as one that was made', async () => {
    const asked = JSON.stringify(ask(surface, 'hello', stream, true))
    const { status, text, id } = await send(
      surface,
      JSON.parse(asked.replaceAll('weather', 'FORBIDDEN')),
    )
    expect(status).toBe(403)
    expect(text).not.toContain('Oslo')
    expect(await logged(id)).toMatchObject({ outcome: 'guardrail_denied', invoked: 1 })
  })

  test('a masked reply is what the caller gets and what is logged', async () => {
    upstream.script(believable({ pieces: ['The SEC', 'RET is out.'] }))
    const { status, text, id } = await send(surface, ask(surface, 'hello', stream))
    expect(status).toBe(200)
    expect(text).toContain('The MASKED is out.')
    expect(text).not.toContain('RET is')
    const row = await logged(id)
    expect(row).toMatchObject({ outcome: 'success', attempts: ['success'], charged: true })
    expect(row.response).not.toContain('SECRET')
  })

  test('a tool call is judged whole', async () => {
    const { status, text } = await send(surface, ask(surface, 'weather?', stream, true))
    expect(status).toBe(200)
    expect(text).toContain('Oslo')
    const { content } = inspected.find(({ phase }) => phase === 'generated_tool_call') ?? {}
    expect(content).toMatchObject({
      kind: 'tool_calls',
      calls: [{ tool: 'weather', arguments: '{"city":"Oslo"}' }],
    })
  })

  test('a guard that fails lets nothing through', async () => {
    upstream.script(believable({ text: 'BROKEN' }))
    const { status, text, id } = await send(surface, ask(surface, 'hello', stream))
    expect(status).toBe(500)
    expect(text).not.toContain('BROKEN')
    expect(await logged(id)).toMatchObject({ attempts: ['success'], charged: true, invoked: 0 })
  })
})

describe.each(surfaces)('a streamed reply, %s', (surface) => {
  test('that is larger than what can be judged is refused and charged', async () => {
    upstream.script(believable({ pieces: Array.from({ length: 400 }, (_, n) => `piece ${n} `) }))
    const { status, text, id } = await send(surface, ask(surface, 'hello', true))
    expect(status).toBe(413)
    expect(JSON.parse(text).error.code).toBe('guarded_response_too_large')
    expect(text).toContain(String(BUFFER_BYTES))
    expect(await logged(id)).toMatchObject({ attempts: ['stream_error'], charged: true })
  })

  test('that breaks off is an error of its own, with nothing sent', async () => {
    upstream.script(async (x) => {
      await x.begin(200, { 'content-type': 'text/event-stream' })
      await x.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
      await x.reset()
    })
    const { status, text, id } = await send(surface, ask(surface, 'hello', true))
    expect(status).toBe(502)
    expect(JSON.parse(text).error.code).toBe('upstream_transport')
    expect(await logged(id)).toMatchObject({
      outcome: 'upstream_error',
      attempts: ['stream_error'],
    })
  })
})

test(`no byte of a denied stream leaves, however it was cut: ${DENIED} streams`, async () => {
  const random = randomFrom(7)
  const words = ['All ', 'of ', 'this ', 'is ', 'quite ', 'CONTENT ', 'größer ', '海 ']
  upstream.always(async (x) => {
    // The word that is denied comes somewhere in it, in pieces.
    const pieces = Array.from({ length: 1 + random(12) }, () => words[random(words.length)] ?? '')
    const at = random(pieces.length + 1)
    const cut = 1 + random(8)
    pieces.splice(at, 0, 'FORBIDDEN'.slice(0, cut), 'FORBIDDEN'.slice(cut))
    await believable({ pieces, pieceBytes: 1 + random(200) })(x)
  })
  const [before] = await gateway.sql<{ count: number }[]>`
    select count(*)::int as count from accounting.usage_cost_events`
  const faults: string[] = []
  let left = DENIED
  const callers = Array.from({ length: 16 }, async () => {
    while (left-- > 0) {
      const surface = surfaces[random(surfaces.length)] ?? 'chat'
      const { status, text } = await send(surface, ask(surface, 'denied in streams', true))
      if (status !== 403 || /content|größer|quite|FORB/i.test(text)) faults.push(text)
    }
  })
  await Promise.all(callers)
  expect(faults).toEqual([])
  const [after] = await gateway.sql<{ count: number }[]>`
    select count(*)::int as count from accounting.usage_cost_events`
  expect((after?.count ?? 0) - (before?.count ?? 0)).toBe(DENIED)
  // The log is written off the path of the request.
  await eventually(async () => {
    const [row] = await gateway.sql<{ count: number }[]>`
      select count(*)::int as count from request_log.request_logs r
      join request_log.request_log_payloads p on p.request_log_id = r.id
      where r.outcome = 'guardrail_denied' and p.request_json::text like '%denied in streams%'`
    return row?.count === DENIED ? true : undefined
  }, 20_000)
}, 120_000)

describe('a streamed reply whose decision takes long begins with comments', () => {
  // Both wait for the same quarter of a minute.
  let denied: ReturnType<typeof send>
  let fine: ReturnType<typeof send>
  let refused: ReturnType<typeof send>
  beforeAll(async () => {
    upstream.clear()
    upstream.script(believable({ pieces: ['SLOW ', 'FORBIDDEN'] }))
    denied = send('chat', ask('chat', 'hello', true))
    await upstream.received(0)
    upstream.script(believable({ pieces: ['SLOW ', 'but fine'] }))
    fine = send('messages', ask('messages', 'hello', true))
    await upstream.received(1)
    upstream.script(believable({ pieces: ['SLOW ', 'FORBIDDEN, POLITE'] }))
    refused = send('messages', ask('messages', 'hello', true))
    await upstream.received(2)
  })

  test('and a denial is one error event', async () => {
    const { status, text, id } = await denied
    expect(status).toBe(200)
    expect(text.startsWith(': ')).toBe(true)
    expect(text).toContain('guardrail_denied')
    expect(text).not.toContain('FORBIDDEN')
    expect(text).not.toContain('[DONE]')
    expect(text.match(/^data: /gm)).toHaveLength(1)
    expect(await logged(id)).toMatchObject({ outcome: 'guardrail_denied', charged: true })
  }, 30_000)

  test('and a refusal is a whole reply', async () => {
    const { status, text, id } = await refused
    expect(status).toBe(200)
    expect(text.startsWith(': ')).toBe(true)
    expect(text.match(/^event: (?!ping)\w+/gm)?.map((line) => line.slice(7))).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ])
    expect(text).toContain('denied politely')
    expect(text).toContain('"stop_reason":"refusal"')
    expect(text).not.toContain('FORBIDDEN')
    const row = await logged(id)
    expect(row).toMatchObject({ outcome: 'guardrail_denied', charged: true })
    expect(row.response).toContain('denied politely')
  }, 30_000)

  test('and what is fine then comes whole', async () => {
    const { status, text } = await fine
    expect(status).toBe(200)
    expect(text.startsWith(': ')).toBe(true)
    expect(text).toContain('but fine')
  }, 30_000)
})
