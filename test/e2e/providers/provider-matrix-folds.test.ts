/** For every streaming route and family: what a stream comes to is the buffered reply, cut anywhere. */
import { afterAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { type JsonObject, type JsonValue, Secret } from 'model-gateway/plugin'
import type { Egress } from 'model-gateway/provider'
import type { DialectStream } from 'model-gateway/surface'
import { providerCall, setUpProvider } from 'model-gateway/testing'
import type { StreamEvent } from 'model-gateway/wire'
import { createChatStream } from '../../../kernel/wire/chat-stream.ts'
import { collectResponse } from '../../../kernel/wire/collect-responses.ts'
import { sseText } from '../../../kernel/wire/dialect-stream.ts'
import { readChatReply } from '../../../kernel/wire/reply.ts'
import { createResponsesStream } from '../../../kernel/wire/responses-stream.ts'
import {
  bufferedChat,
  chatChunks,
  chatSse,
  cutAnywhere,
  received,
} from '../../../plugins/api-messages/to-chat/__fixtures__/messages.ts'
import { messagesReply as toMessages } from '../../../plugins/api-messages/to-chat/reply.ts'
import { createMessagesStream } from '../../../plugins/api-messages/to-chat/stream.ts'
import { foldChat, gistOf } from '../../../providers/_shared/fold-chat.fixture.ts'
import vertex from '../../../providers/cloud-a-ml/index.ts'
import cloudRun from '../../../providers/cloud-a-serverless-compat/index.ts'
import bedrock from '../../../providers/cloud-b-ml/index.ts'
import compat from '../../../providers/generic-compat/index.ts'
import { responseFrames, responseObject } from '../../harness/upstream.ts'
import type { Said } from '../../harness/upstream-clouds-messages.ts'
import { type Asked, asked, type MatrixRoute, routes } from './provider-matrix.fixture.ts'
import {
  EVENTS,
  fromContent,
  fromConverse,
  fromMessages,
  type Reply,
  repliesOf,
} from './provider-matrix-replies.fixture.ts'

const RUNS = 300

/** Blocks without anything for a caller, which any upstream's server or proxy may send. */
const idle = [
  ...[': comment\n\n', 'retry: 3000\n\n', 'data:\n\n', 'event: ping\n\n', '\r\n', 'data: {}\n\n'],
  ...['event: ping\ndata: {"type":"ping"}\n\n', 'data: {"type":"heartbeat"}\n\n'],
  ...['data: heartbeat\n\n', 'data: null\n\n', 'event: keepalive\ndata: 17\n\n'],
]
/** Those of compatible services. */
const idleChunks = ['{"id":"x","object":"chat.completion.chunk"}', '{"choices":[]}'].map(
  (data) => `data: ${data}\n\n`,
)

/** The upstream's side of the next call: its reply, and where the bytes of its stream are cut. */
let next: { reply: Reply; cuts: readonly number[] }

const egress: Egress = {
  async send(call) {
    const { reply, cuts } = next
    const { mediaType, buffered } = reply
    const bytes = Buffer.from(JSON.stringify(buffered))
    return {
      status: 200,
      headers: new Headers({
        'content-type': call.stream ? mediaType : 'application/json',
        // Replies of Converse name their id nowhere else.
        'x-amzn-requestid': '8c9a2f6e',
      }),
      body: cutBytes(streamBytes(reply), cuts),
      bytes: async () => bytes,
    }
  },
}

function streamBytes({ frames }: Reply): Buffer {
  return Buffer.concat(frames.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

async function* cutBytes(bytes: Buffer, cuts: readonly number[]) {
  let from = 0
  for (const to of [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)) {
    yield bytes.subarray(from, to)
    from = to
  }
}

const auth = { mode: 'bearer', token: new Secret('t') }
const set = (type: string, plugin: typeof compat | typeof vertex, config: object) =>
  setUpProvider({ plugin, type, config: { auth, ...config }, egress })
const base_url = 'https://upstream.test/v1'
const benches: Record<string, Awaited<ReturnType<typeof set>>> = {
  generic_compat: await set('generic_compat', compat, { base_url }),
  cloud_a_serverless_compat: await set('cloud_a_serverless_compat', cloudRun, { base_url }),
  cloud_a_ml: await set('cloud_a_ml', vertex, { project_id: 'p' }),
  cloud_b_ml: await set('cloud_b_ml', bedrock, { region: 'us-east-1' }),
}
afterAll(async () => {
  for (const bench of Object.values(benches)) await bench.dispose()
})

function bind({ provider, upstreamModel, style }: MatrixRoute) {
  const base_path = style?.includes('generic') === true ? { base_path: '/v1' } : {}
  const compatibility: JsonObject =
    style === undefined ? {} : { cloud_b_ml: { api_style: style, ...base_path } }
  const bench = benches[provider]
  if (bench === undefined) throw new Error(`no bench for ${provider}`)
  return bench.bind({ upstreamModel, compatibility })
}

const identity = { publicModel: 'asked', requestId: 'r-1' }
const streams: Record<string, () => DialectStream> = {
  chat_completions: () => createChatStream({ ...identity, native: true }),
  messages: () => createMessagesStream(createChatStream({ ...identity, native: true }), identity),
  responses: () => createResponsesStream(identity),
}

const bodyFor = (family: Asked, stream: boolean): JsonObject => ({
  model: 'asked',
  ...(stream ? { stream } : {}),
  ...(family === 'responses'
    ? { input: 'x' }
    : { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
})

type Bound = ReturnType<typeof bind>

async function execute(bound: Bound, family: Asked, stream: boolean) {
  const executor = bound.execute[family === 'messages' ? 'chat_completions' : family]
  if (executor === undefined) throw new Error(`no executor for ${family}`)
  return await executor(providerCall(bodyFor(family, stream)))
}

/** All events that a caller gets. Throws where the stream fails. */
async function streamed(bound: Bound, family: Asked): Promise<StreamEvent[]> {
  const result = await execute(bound, family, true)
  if (result.kind !== 'stream') throw new Error('not a stream')
  const stream = streams[family]?.() as DialectStream
  const events: StreamEvent[] = []
  for await (const batch of result.events) events.push(...stream.push(batch))
  stream.end()
  if (stream.outcome !== 'complete') throw new Error(`the stream ${stream.outcome}`)
  return [...events, ...stream.terminal]
}

async function buffered(bound: Bound, family: Asked): Promise<JsonObject> {
  const result = await execute(bound, family, false)
  if (result.kind !== 'buffered') throw new Error('not buffered')
  return { ...result.body, model: 'asked' }
}

/** What a caller makes of the stream, and the same of the buffered reply. */
async function bothWays(bound: Bound, family: Asked, cuts: readonly number[]) {
  const events = await streamed(bound, family)
  const whole = await buffered(bound, family)
  switch (family) {
    case 'chat_completions':
      return [foldChat(events), gistOf(whole)]
    case 'messages': {
      const message = toMessages(whole, readChatReply(whole).usage, identity)
      // The helper adds fields of its own.
      const final = await finalMessage(sseText(events), cuts)
      const same = Object.keys(message).map((name) => [name, final[name]])
      return [Object.fromEntries(same), received(message)]
    }
    default:
      return [collectResponse(events), whole]
  }
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** What the official client makes of a stream that arrives in these pieces. */
async function finalMessage(text: string, cuts: readonly number[]): Promise<JsonObject> {
  const client = new Anthropic({
    apiKey: 'k',
    baseURL: 'http://localhost:1',
    maxRetries: 0,
    fetch: async () =>
      new Response(streamOf(cutAnywhere(text, cuts)), {
        headers: { 'content-type': 'text/event-stream' },
      }),
  })
  const messages = [{ role: 'user' as const, content: 'x' }]
  const stream = client.messages.stream({ model: 'asked', max_tokens: 1, messages })
  return received(await stream.finalMessage())
}

const cuts = fc.array(fc.nat(20_000), { maxLength: 30 })

/** A reply with idle blocks in random places of its stream. */
function withIdle(
  reply: Reply,
  { wire }: MatrixRoute,
  places: readonly (readonly [number, number])[],
) {
  const isText = /^(?:data|event):/.test(String(reply.frames[0]))
  if (reply.mediaType !== EVENTS || !isText) return reply
  const blocks = wire === 'openai' ? [...idle, ...idleChunks] : idle
  const frames = [...reply.frames]
  for (const [at, which] of places) {
    frames.splice(at % frames.length, 0, blocks[which % blocks.length] as string)
  }
  return { ...reply, frames }
}
const places = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { maxLength: 5 })
const pairs = routes
  // The others have codecs of these.
  .filter(({ provider }) => benches[provider] !== undefined)
  .filter(({ refuses }) => refuses?.includes('stream') !== true)
  .flatMap((route) =>
    asked
      .filter((family) => family !== 'embeddings' && route.families.includes(family))
      .map((family) => [route.id, family, route] as const),
  )
let chunkings = 0
afterAll(() => console.log(`${chunkings} random chunkings of ${pairs.length} pairs`))

describe.each(pairs)('%s, %s', (_, family, route) => {
  const bound = bind(route)

  test(`fold(stream) = buffered over ${RUNS} random replies, idle events and chunkings`, async () => {
    await fc.assert(
      fc.asyncProperty(
        repliesOf(route, family),
        places,
        cuts,
        cuts,
        async (said, at, upstream, ours) => {
          next = { reply: withIdle(said, route, at), cuts: upstream }
          const [folded, whole] = await bothWays(bound, family, ours)
          expect(folded as JsonValue).toEqual(whole as JsonValue)
          chunkings++
        },
      ),
      { numRuns: RUNS },
    )
  })
})

describe('a planted fault is caught', () => {
  const said: Said = {
    blocks: [
      { kind: 'text', pieces: ['alpha-', 'beta-', 'gamma-', 'omicron'] },
      { kind: 'tool', id: 'tool_1', name: 'find', pieces: ['{"omega":', '"psi"}'] },
    ],
    stopReason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 2, inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  }
  const request: JsonObject = {}
  const pieces = ['alpha-', 'beta-', 'gamma-', 'omicron']
  const wires: [string, string, Asked, Reply][] = [
    ['native messages', 'edge_native_messages', 'chat_completions', fromMessages(said)],
    ['native messages', 'cloud_a_ml anthropic', 'messages', fromMessages(said)],
    ['Converse', 'runtime_unified', 'chat_completions', fromConverse(said)],
    ['Converse', 'runtime_unified', 'messages', fromConverse(said)],
    [
      'Google content',
      'cloud_a_ml google',
      'chat_completions',
      fromContent({ ...said, stopReason: 'STOP', usage: { promptTokenCount: 3 } }, false),
    ],
    [
      'OpenAI chat',
      'generic_compat',
      'chat_completions',
      {
        buffered: bufferedChat(chatSaid()),
        frames: chatSse(chatChunks(chatSaid(), 6)).split(/(?<=\n\n)/),
        mediaType: EVENTS,
      },
    ],
    [
      'Responses',
      'edge_generic_responses',
      'responses',
      {
        buffered: responseObject(request, { pieces: ['other'] }),
        frames: responseFrames(request, { pieces }),
        mediaType: EVENTS,
      },
    ],
  ]

  function chatSaid() {
    return {
      thinking: [],
      text: pieces.join(''),
      calls: [{ id: 'tool_1', name: 'find', input: '{"omega":"psi"}' }],
      finish: 'tool_calls',
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }
  }

  /** Frames without which, or in another order, the reply is another. */
  const carries = (frame: string | Uint8Array) =>
    /alpha-|beta-|amma-|micron|omeg|ps/.test(Buffer.from(frame).toString('latin1'))

  test.each(wires)('%s over %s, %s', async (wire, id, family, reply) => {
    const route = routes.find((one) => one.id === id) as MatrixRoute
    const bound = bind(route)
    const seesFault = async (frames: readonly (string | Uint8Array)[]) => {
      next = { reply: { ...reply, frames }, cuts: [] }
      const outcome = await bothWays(bound, family, []).catch(() => undefined)
      return outcome === undefined || !Bun.deepEquals(outcome[0], outcome[1])
    }
    const { frames } = reply
    if (wire === 'Responses') {
      // Its last event repeats everything, so only a whole other reply differs.
      expect(await seesFault(frames)).toBe(true)
      return
    }
    expect(await seesFault(frames)).toBe(false)
    const at = frames.flatMap((frame, index) => (carries(frame) ? [index] : []))
    expect(at.length).toBeGreaterThanOrEqual(5)
    for (const index of at) {
      expect(await seesFault(frames.filter((_, other) => other !== index))).toBe(true)
      // What follows the end is ignored, and the end comes with the last piece in Google's streams.
      if (index === frames.length - 1) continue
      expect(await seesFault(frames.toSpliced(index, 0, frames[index] ?? ''))).toBe(true)
    }
    for (const [nth, index] of at.slice(0, 3).entries()) {
      const other = at[nth + 1] ?? 0
      const swapped = frames.with(index, frames[other] ?? '').with(other, frames[index] ?? '')
      expect(await seesFault(swapped)).toBe(true)
    }
    for (let length = 0; length < frames.length - 2; length++) {
      expect(await seesFault(frames.slice(0, length))).toBe(true)
    }
  })
})
