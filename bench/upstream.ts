/**
 * A provider with minimal cost, as a separate process: chat completions and messages, buffered or
 * streamed, on loopback. The request body controls it, because every proxy passes the body on:
 * `metadata.delay_ms` is the wait before the reply, `metadata.pace_ms` the wait between two events
 * of a stream, which otherwise are sent together. It also accepts and ignores OTLP exports.
 */
import { serveUntilOrphaned } from './machine.ts'
import { EVENTS_TOOL, MCP_PATH } from './mcp.ts'

const EVENTS = 64
const MODEL = 'gpt-4.1-mini-2025-04-14'
const WORDS = 'A gateway that loses a row when a process dies will be taken out again. '
const usage = { prompt_tokens: 24, completion_tokens: 180, total_tokens: 204 }

const reply = JSON.stringify({
  id: 'chatcmpl-000000000000000000000000',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: MODEL,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: WORDS.repeat(9), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
  service_tier: 'default',
  system_fingerprint: null,
})

function chunk(delta: object, finishReason: string | null, rest: object = {}): string {
  return `data: ${JSON.stringify({
    id: 'chatcmpl-000000000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: MODEL,
    service_tier: 'default',
    system_fingerprint: null,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
    ...rest,
  })}\n\n`
}

const events = [
  chunk({ role: 'assistant', content: '', refusal: null }, null),
  ...Array.from({ length: EVENTS - 4 }, (_, i) => chunk({ content: ` word${i}` }, null)),
  chunk({}, 'stop'),
  chunk({}, null, { choices: [], usage }),
  'data: [DONE]\n\n',
].map((text) => Buffer.from(text))
const whole = Buffer.concat(events)

const counted = { input_tokens: 24, output_tokens: 180 }
const message = {
  ...{ id: 'msg_00000000000000000000', type: 'message', role: 'assistant' },
  ...{ model: 'claude-sonnet-4-6', stop_reason: null, stop_sequence: null },
}
const messageReply = JSON.stringify({
  ...message,
  content: [{ type: 'text', text: WORDS.repeat(9) }],
  stop_reason: 'end_turn',
  usage: counted,
})
const messageEvent = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const messageEvents = Buffer.from(
  [
    messageEvent('message_start', { message: { ...message, content: [], usage: counted } }),
    messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: EVENTS - 5 }, (_, i) =>
      messageEvent('content_block_delta', {
        index: 0,
        delta: { type: 'text_delta', text: ` word${i}` },
      }),
    ),
    messageEvent('content_block_stop', { index: 0 }),
    messageEvent('message_delta', { delta: { stop_reason: 'end_turn' }, usage: counted }),
    messageEvent('message_stop'),
  ].join(''),
)

function stream(pieces: readonly Uint8Array[], paceMs: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent > 0 && sent < pieces.length) await Bun.sleep(paceMs)
      const piece = pieces[sent++]
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
}

/** The replies of an MCP server: the result of a tool, and an empty result for a ping. */
const rpcReply = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const pong = rpcReply({})
const toolResult = rpcReply({ content: [{ type: 'text', text: WORDS.repeat(9) }], isError: false })
const resultEvent = Buffer.from(`event: message\ndata: ${toolResult}\n\n`)

interface RpcRequest {
  readonly method: string
  readonly params?: { readonly name: string }
}

function answerRpc({ method, params }: RpcRequest): Response {
  if (params?.name === EVENTS_TOOL) {
    return new Response(stream([resultEvent], 0), {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
  const text = method === 'tools/call' ? toolResult : pong
  return new Response(text, { headers: { 'content-type': 'application/json' } })
}

interface ChatRequest {
  readonly stream?: boolean
  readonly metadata?: { readonly delay_ms?: string; readonly pace_ms?: string }
}

async function answer(request: ChatRequest): Promise<Response> {
  const { delay_ms, pace_ms } = request.metadata ?? {}
  if (delay_ms !== undefined) await Bun.sleep(Number(delay_ms))
  if (request.stream !== true) {
    return new Response(reply, { headers: { 'content-type': 'application/json' } })
  }
  const body = pace_ms === undefined ? stream([whole], 0) : stream(events, Number(pace_ms))
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    if (request.url.endsWith('/chat/completions')) {
      return await answer((await request.json()) as ChatRequest)
    }
    if (request.url.endsWith('/v1/messages')) {
      const { stream: isStream } = (await request.json()) as ChatRequest
      if (isStream !== true) {
        return new Response(messageReply, { headers: { 'content-type': 'application/json' } })
      }
      return new Response(stream([messageEvents], 0), {
        headers: { 'content-type': 'text/event-stream' },
      })
    }
    if (request.url.endsWith(MCP_PATH)) return answerRpc((await request.json()) as RpcRequest)
    await request.arrayBuffer()
    return Response.json({})
  },
})
await serveUntilOrphaned(server.port)
