/** Faults of surfaces, dialects and conversions. */
import { definePlugin, GatewayError, strictObject } from 'model-gateway/plugin'
import {
  type Conversion,
  conversions,
  type Dialect,
  dialects,
  type Surface,
  surfaces,
} from 'model-gateway/surface'
import {
  chatChunkText,
  chatEvents,
  collectChat,
  createChatStream,
  encodeSse,
  readChatReply,
  readChatRequest,
  streamEvent,
} from 'model-gateway/wire'
import type { AnyPlugin } from '../kit.ts'
import { testSurface } from '../surface.ts'
import { type Planted, spoilt } from './planted.ts'

const surface: Surface = {
  id: 'talk',
  paths: ['/v1/talk'],
  dialect: 'talk',
  operation: 'talk',
  read: ({ json }) => readChatRequest(json),
  error({ message, code }, request_id) {
    const body = { message, code, request_id }
    return { body, event: encodeSse(JSON.stringify(body)) }
  },
}

const dialect: Dialect = {
  id: 'talk',
  readReply: readChatReply,
  answer: async () => ({ kind: 'buffered', body: reply }),
  streaming: {
    open: createChatStream,
    collect: collectChat,
    tell: chatEvents,
    textOf: chatChunkText,
  },
}

const conversion: Conversion = {
  from: 'talk',
  to: 'chat_completions',
  request:
    ({ model }) =>
    () => ({ body: { model } }),
  reply: (reply, _, { publicModel }) => ({ ...reply, model: publicModel }),
  stream: (stream) => stream,
}

const plugin = definePlugin({
  manifest: {
    id: 'plugin.planted-talk',
    version: '1.0.0',
    contract: 1,
    summary: 'An API that is sound.',
    config: strictObject({}),
    needs: [],
    dialects: ['talk'],
  },
  setup(ctx) {
    ctx.provide(dialects, dialect)
    ctx.provide(surfaces, surface)
    ctx.provide(conversions, conversion)
  },
})

const request = { model: 'fast', messages: [{ role: 'user', content: 'hello' }] }
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const message = { role: 'assistant', content: 'Hello there' }
const reply = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
  streamEvent(JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }], ...more }))
const stream = [
  chunk({ role: 'assistant', content: 'Hello ' }, null),
  chunk({ content: 'there' }, null),
  chunk({}, 'stop', { usage }),
  streamEvent('[DONE]'),
]

const run = (it: AnyPlugin) => () =>
  testSurface({
    plugin: it,
    surfaces: {
      talk: { takes: [request], refuses: [{ body: { model: 'fast' }, field: 'messages' }] },
    },
    dialects: { talk: { replies: [reply], answers: [request], stream } },
    conversions: [
      {
        from: 'talk',
        to: 'chat_completions',
        requests: [{ from: request, to: { model: 'fast' } }],
        replies: [{ to: reply, from: { id: 'c' } }],
        stream: { open: createChatStream, events: stream },
      },
    ],
  })

const withSurface = (change: Partial<Surface>) =>
  run(spoilt(plugin, surfaces, (sound) => ({ ...sound, ...change })))
const withDialect = (change: Partial<Dialect>) =>
  run(spoilt(plugin, dialects, (sound) => ({ ...sound, ...change })))
const withConversion = (change: Partial<Conversion>) =>
  run(spoilt(plugin, conversions, (sound) => ({ ...sound, ...change })))

const wellFormed = 'each is well-formed, claims nothing twice and has a sample'
const anyBody = 'read gives a call or refuses, whatever the body is'
const sameStream = 'a stream is the same, however it is cut'
let readings = 0

export const soundSurfaces: readonly (() => void)[] = [run(plugin)]

export const plantedSurfaces: readonly Planted[] = [
  {
    fault: 'a path that is claimed twice',
    rule: wellFormed,
    run: withSurface({ paths: ['/v1/talk', '/v1/talk'] }),
  },
  {
    fault: 'a path that is none',
    rule: wellFormed,
    run: withSurface({ paths: ['v1/talk'] }),
  },
  {
    fault: 'a conversion to itself',
    rule: wellFormed,
    run: withConversion({ to: 'talk' }),
  },
  {
    fault: 'a reading in a promise',
    rule: anyBody,
    run: withSurface({ read: (async () => readChatRequest(request)) as never }),
  },
  {
    fault: 'a reading that trusts the body',
    rule: anyBody,
    run: withSurface({
      read({ json }) {
        const { messages } = json as { messages: { content: string }[] }
        for (const { content } of messages) content.trim()
        return readChatRequest(json)
      },
    }),
  },
  {
    fault: 'a refusal that names no field',
    rule: 'read refuses with invalid_request, and names the field',
    run: withSurface({
      read({ json }) {
        try {
          return readChatRequest(json)
        } catch {
          throw new GatewayError('invalid_request', 'this is wrong')
        }
      },
    }),
  },
  {
    fault: 'a reading that differs from the last one',
    rule: 'read gives the call of a request, twice the same one',
    run: withSurface({
      read: ({ json }) => ({ ...readChatRequest(json), exposedToolCount: readings++ }),
    }),
  },
  {
    fault: 'a reading that minds what it does not know',
    rule: 'read takes fields that it does not know',
    run: withSurface({
      read({ json }) {
        if (JSON.stringify(json).includes('unknown')) {
          throw new GatewayError('invalid_request', 'unknown field')
        }
        return readChatRequest(json)
      },
    }),
  },
  {
    fault: 'an error without its message',
    rule: 'errors are JSON with message and request id, whole and as an event',
    run: withSurface({
      error: ({ code }, request_id) => ({ body: { code, request_id }, event: 'data: {}\n\n' }),
    }),
  },
  {
    fault: 'a reply without usage',
    rule: 'readReply tells the usage of a reply, twice the same, and leaves it as it is',
    run: withDialect({ readReply: (body) => ({ ...readChatReply(body), usage: undefined }) }),
  },
  {
    fault: 'an answer of its own that is no reply',
    rule: 'it answers itself, or it has no sample of that',
    run: withDialect({ answer: async () => ({ kind: 'buffered', body: {} }) }),
  },
  {
    fault: 'anything is a reply',
    rule: 'readReply throws upstream_transport for what is no reply',
    run: withDialect({ readReply: () => ({ usage: undefined, invokedToolCount: 0 }) }),
  },
  {
    fault: 'a reply that is trusted',
    rule: 'readReply and the views take replies that are spoilt',
    run: withDialect({
      readReply(body) {
        const facts = readChatReply(body)
        const { choices } = body as { choices: { message: { content: string } }[] }
        for (const choice of choices) choice.message.content.trim()
        return facts
      },
    }),
  },
  {
    fault: 'a key that the upstream repeats',
    rule: 'no key that an upstream repeats is in an error',
    run: withDialect({
      readReply(body) {
        try {
          return readChatReply(body)
        } catch {
          throw new GatewayError('upstream_transport', JSON.stringify(body))
        }
      },
    }),
  },
  {
    fault: 'a stream that looks at the first event of each batch alone',
    rule: sameStream,
    run: withDialect({
      streaming: {
        ...(dialect.streaming as NonNullable<Dialect['streaming']>),
        open(options) {
          const told = createChatStream(options)
          const push = told.push.bind(told)
          return Object.defineProperty(told, 'push', {
            value: (batch: Parameters<typeof push>[0]) => push(batch.slice(0, 1)),
          })
        },
      },
    }),
  },
  {
    fault: 'a stream that is told without its text',
    rule: 'collect gives the reply of a stream, and tell the stream of a reply',
    run: withDialect({
      streaming: {
        ...(dialect.streaming as NonNullable<Dialect['streaming']>),
        tell: (told) => chatEvents({ ...told, choices: [] }),
      },
    }),
  },
  {
    fault: 'a dialect that does not stream any more',
    rule: 'it streams, or it has no sample of a stream',
    run: withDialect({ streaming: undefined as never }),
  },
  {
    fault: 'a conversion that changes the call',
    rule: 'a request becomes one of the other dialect, for each route anew',
    run: withConversion({
      request(call) {
        Object.assign(call, { model: 'other' })
        return () => ({ body: { model: call.model } })
      },
    }),
  },
  {
    fault: 'a conversion that shows the upstream’s name',
    rule: 'a reply becomes one of the caller’s dialect, under the model that was asked for',
    run: withConversion({ reply: (told) => told }),
  },
]
