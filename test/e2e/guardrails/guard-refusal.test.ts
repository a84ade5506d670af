import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from 'model-gateway/plugin'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import OpenAI from 'openai'
import { eventFaults, replyFaults } from '../../contract/client-shape.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { believable, startUpstream, type Upstream } from '../../harness/upstream.ts'

const wordCheck = new URL('../../../plugins/guardrails/__fixtures__/word-check.ts', import.meta.url)

const words = (denied_word: string, ...phases: string[]) => ({
  kind: 'words',
  phases,
  word_list: { denied_word },
})
const ask = { parameters: { type: 'object' as const, properties: { city: { type: 'string' } } } }

let upstream: Upstream
let gateway: TestGateway
let openai: OpenAI
let anthropic: Anthropic
/** The last reply as it came. */
let last: Response

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    plugins: [{ use: 'builtin:*' }, { use: wordCheck.pathname }],
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: ['m', 'error', 'audit'].map((id) => ({
      id,
      routes: [
        {
          provider: 'up',
          upstream_model: 'u',
          compatibility: { generic_compat: { supports_stream_usage: true } },
        },
      ],
    })),
    guardrails: {
      default: {
        enabled: true,
        mode: 'deny',
        on_deny: 'refusal',
        managed_checks: ['texts', 'calls'],
      },
      managed_checks: {
        texts: words('FORBIDDEN', 'prompt', 'model_response'),
        calls: words('Oslo', 'generated_tool_call'),
      },
      model_routes: { 'error/up/u': { on_deny: 'error' }, 'audit/up/u': { mode: 'audit' } },
    },
  })
  const listen = async (url: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(url, init)
    last = response.clone() as Response
    return response
  }
  const options = { apiKey: adaKey, maxRetries: 2, fetch: listen }
  openai = new OpenAI({ ...options, baseURL: `${gateway.url}/v1` })
  anthropic = new Anthropic({ ...options, baseURL: gateway.url })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})
beforeEach(() => upstream.clear())

/** What a client makes of one turn. */
interface Turn {
  readonly text: string | null | undefined
  readonly stop: unknown
  readonly tokens: number | undefined
}
type Api = 'chat_completions' | 'messages' | 'responses'

const clients: Record<Api, (model: string, content: string, stream: boolean) => Promise<Turn>> = {
  async chat_completions(model, content, stream) {
    const call = {
      model,
      messages: [{ role: 'user' as const, content }],
      tools: [{ type: 'function' as const, function: { name: 'weather', ...ask } }],
    }
    const { choices, usage } = stream
      ? await openai.chat.completions.stream(call).finalChatCompletion()
      : await openai.chat.completions.create(call)
    const stop = choices[0]?.finish_reason
    return { text: choices[0]?.message.content, stop, tokens: usage?.total_tokens }
  },
  async messages(model, content, stream) {
    const tools = [{ name: 'weather', input_schema: ask.parameters }]
    const messages = [{ role: 'user' as const, content }]
    const call = { model, max_tokens: 50, messages, tools }
    const message = stream
      ? await anthropic.messages.stream(call).finalMessage()
      : await anthropic.messages.create(call)
    const [block] = message.content
    const { cache_read_input_tokens: read, input_tokens, output_tokens } = message.usage
    return {
      text: block?.type === 'text' ? block.text : undefined,
      stop: message.stop_reason,
      tokens: input_tokens + output_tokens + (read ?? 0),
    }
  },
  async responses(model, input, stream) {
    const tools = [{ type: 'function' as const, name: 'weather', strict: false, ...ask }]
    const call = { model, input, tools }
    const { output, output_text, usage } = stream
      ? await openai.responses.stream(call).finalResponse()
      : await openai.responses.create(call)
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
    const refusal = parts.find((part) => part.type === 'refusal')
    expect(refusal?.refusal).toBe(output_text)
    return { text: output_text, stop: refusal?.type, tokens: usage?.total_tokens }
  },
}
const stops: Record<Api, string> = {
  chat_completions: 'content_filter',
  messages: 'refusal',
  responses: 'refusal',
}

const phases = [
  { phase: 'prompt', content: 'say FORBIDDEN', calls: 0, text: 'did not send the request' },
  { phase: 'model_response', content: 'hello', calls: 1, text: 'withheld the reply' },
  { phase: 'generated_tool_call', content: 'weather?', calls: 1, text: 'withheld a tool call' },
] as const

/** Where official clients would trip over what was sent. */
async function faultsOf(api: Api, { body }: Response, stream: boolean): Promise<string[]> {
  if (body === null) return ['it has no body']
  if (!stream) return replyFaults(api, (await new Response(body).json()) as JsonObject)
  const events: StreamEvent[] = []
  for await (const batch of decodeSse(body)) events.push(...batch)
  return eventFaults(api, events)
}

const replyOf = (phase: string) =>
  phase === 'model_response'
    ? believable({ pieces: ['All FORB', 'IDDEN'], callTool: false })
    : believable()

/** All that is written down of a request, but for what is its own: ids, times, the model. */
async function booksOf(id: string) {
  const [row] = await eventually(async () => {
    const rows = await gateway.sql`
      select r.outcome, r.error_code, r.total_tokens, r.invoked_tool_count,
        (select array_agg(a.status) from request_log.request_log_attempts a
          where a.request_log_id = r.id) as attempts
      from request_log.request_logs r where r.request_id = ${id}`
    return rows.length === 0 ? undefined : rows
  })
  const charges = await gateway.sql`
    select operation, total_tokens, pricing_status from accounting.usage_cost_events
    where request_id = ${id}`
  const decisions = await eventually(async () => {
    const rows = await gateway.sql`
      select phase, mode, evaluator, action, reason_code, content_sha256
      from guardrails.guardrail_decisions where request_id = ${id} order by id`
    return rows.length === 0 ? undefined : rows
  })
  return { row, charges: [...charges], decisions: [...decisions] }
}

const cases = (['chat_completions', 'messages', 'responses'] as const).flatMap((api) =>
  phases.flatMap((each) => [false, true].map((stream) => ({ api, stream, ...each }))),
)

describe.each(cases)('$api, $phase, streamed: $stream', ({ api, phase, stream, ...denied }) => {
  test('a denial is a turn of the conversation, written down and paid for like an error', async () => {
    upstream.always(replyOf(phase))
    const { text, stop, tokens } = await clients[api]('m', denied.content, stream)
    expect(stop).toBe(stops[api])
    expect(text).toContain(denied.text)
    expect(text).not.toMatch(/FORBIDDEN|Oslo/)
    expect(upstream.journal.calls).toHaveLength(denied.calls)

    expect(last.status).toBe(200)
    expect(last.headers.get('x-should-retry')).toBe('false')
    expect(last.headers.get('content-type')).toStartWith(
      stream ? 'text/event-stream' : 'application/json',
    )
    expect(await faultsOf(api, last, stream)).toEqual([])

    const books = await booksOf(last.headers.get('x-request-id') ?? '')
    expect(books.row).toMatchObject({
      outcome: 'guardrail_denied',
      error_code: 'guardrail_denied',
      attempts: denied.calls === 0 ? null : ['success'],
    })
    expect(books.charges).toHaveLength(denied.calls)
    expect(tokens || null).toEqual(books.row?.total_tokens && Number(books.row.total_tokens))
    expect(text).toContain(books.decisions.at(-1)?.reason_code)

    const error = await clients[api]('error', denied.content, stream).catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 403 })
    // Official clients do not try it again.
    expect(upstream.journal.calls).toHaveLength(2 * denied.calls)
    expect(last.headers.get('x-should-retry')).toBe('false')
    expect(await booksOf(last.headers.get('x-request-id') ?? '')).toEqual(books)
  })
})

test('in audit mode nothing is refused', async () => {
  for (const { phase, content } of phases) {
    upstream.always(replyOf(phase))
    const { stop } = await clients.messages('audit', content, false)
    expect(stop).toBe(phase === 'model_response' ? 'end_turn' : 'tool_use')
    const { row, decisions } = await booksOf(last.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ outcome: 'success' })
    expect(decisions).toContainEqual(expect.objectContaining({ phase, action: 'audit' }))
  }
})
