import { expect, test } from 'bun:test'
import { GatewayError, isJsonObject, type JsonValue, Secret } from 'model-gateway/plugin'
import {
  bytes,
  collectEvents,
  errorStatus,
  html,
  json,
  type Pace,
  providerCall,
  providerCost,
  type Reply,
  redirect,
  resetBeforeHeaders,
  setUpProvider,
  sse,
  startUpstream,
  testGoldenExchanges,
  testPlugin,
  testProvider,
} from 'model-gateway/testing'
import plugin from './src/index.ts'
import { vendorRequest } from './src/request.ts'

const meter = { fresh: 24, written: 17 }

/** Lines of the vendor's stream. */
const lines = (...values: readonly JsonValue[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`)

/** A reply of the vendor: whole, or one line at a time. */
function vendor(pace: Pace): Reply {
  const turn = { parts: [{ kind: 'say', text: 'Rivers run größer' }] }
  const stream = lines({ say: 'Rivers' }, { say: ' run größer' }, { end: { ended: 'done', meter } })
  return (x) =>
    isJsonObject(x.call.body) && x.call.body.flow === true
      ? sse(stream, pace)(x)
      : json({ turn, ended: 'done', meter })(x)
}

const setUp = {
  plugin,
  type: 'brook',
  config: (upstreamUrl: string) => ({
    base_url: upstreamUrl,
    project: 'rivers',
    api_key: new Secret('canary-4711'),
  }),
  secrets: ['canary-4711'],
}

testPlugin({ plugin })

testProvider({
  ...setUp,
  upstream: {
    reply: vendor,
    malformed: [
      html,
      redirect,
      resetBeforeHeaders,
      errorStatus(500),
      bytes('{"turn": {"parts": [', 'application/json'),
      bytes('null', 'application/json'),
      json({ turn: { parts: [] }, ended: 'done', meter: { fresh: -1 } }),
      json({ turn: { parts: [{ kind: 'sing' }] }, ended: 'done', meter }),
      sse(lines({ say: 'and then' }), {}),
      sse(lines({ end: { ended: 'done', meter } }, { say: 'still here' }), {}),
      sse(lines({ input: { call: 'stranger', piece: '{}' } }), {}),
    ],
    faults: (words) => [
      json({ fault: { words } }, 400),
      sse(lines({ say: 'To' }, { fault: { words } }), {}),
    ],
  },
})

testGoldenExchanges({ ...setUp, folder: `${import.meta.dir}/golden` })

const messages = [{ role: 'user', content: 'Where do rivers run?' }]

test('a stream fault is charged with the usage that it reports', async () => {
  const upstream = await startUpstream()
  const bench = await setUpProvider({ ...setUp, config: setUp.config(upstream.url) })
  try {
    const fault = { words: 'the engine is gone', meter: { fresh: 9, recalled: 4, written: 2 } }
    upstream.always(sse(lines({ say: 'To' }, { fault }), {}))
    const call = providerCall({ model: 'asked', stream: true, messages })
    const result = await bench.bind().execute.chat_completions?.(call)
    if (result === undefined) throw new Error('no executor')
    const error = await collectEvents(result).catch((reason) => reason)
    expect(error).toBeInstanceOf(GatewayError)
    expect(error.usage).toMatchObject({ uncachedInput: 9, cacheRead: 4, output: 2 })
  } finally {
    await bench.dispose()
    await upstream.stop()
  }
})

test('the tier of a route is sent, and reported for pricing', async () => {
  const upstream = await startUpstream()
  const bench = await setUpProvider({ ...setUp, config: setUp.config(upstream.url) })
  try {
    upstream.always(vendor({}))
    const route = bench.bind({ compatibility: { tier: 'spare' } })
    const result = await route.execute.chat_completions?.(
      providerCall({ model: 'asked', messages }),
    )
    expect(result?.billingModifiers).toEqual(['tier:spare'])
    expect(upstream.journal.calls[0]?.body).toMatchObject({ tier: 'spare' })
  } finally {
    await bench.dispose()
    await upstream.stop()
  }
})

test.each([
  ['a picture', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
  ['a role of another API', { role: 'moderator', content: 'hush' }],
  ['arguments that are not JSON', assistantCalls('{"city"')],
])('%s is invalid_request', (_, message) => {
  const call = providerCall({ model: 'asked', messages: [message] })
  expect(() => vendorRequest(call, 'brook-2')).toThrow('messages.0')
})

test('conversion is fast compared with the call', async () => {
  const cost = await providerCost({
    plugin,
    type: 'brook',
    config: setUp.config('http://127.0.0.1:1'),
    dialect: 'chat_completions',
    request: { model: 'asked', messages, stream: true },
    reply: {
      contentType: 'application/x-ndjson',
      pieces: lines({ say: 'To the ' }, { say: 'sea.' }, { end: { ended: 'done', meter } }),
    },
  })
  expect(cost).toBeLessThan(1000)
})

function assistantCalls(text: string) {
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: text } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}
