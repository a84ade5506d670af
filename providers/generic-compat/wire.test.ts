/** What goes out on the wire, as the upstream's journal saw it; the profiles are in profile.test.ts. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import { collectEvents, type JournalCall, providerCall } from 'model-gateway/testing'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench, setUp } = await setUpCompat({
  config: { auth: { mode: 'bearer', token: new Secret('s3cret') } },
  settings: {
    defaultHeaders: {
      'X-Default': 'provider',
      'X-Both': 'provider',
      Authorization: 'Bearer wrong',
    },
    pricingProviderId: 'openai',
  },
})

const messages = [{ role: 'user', content: 'hi' }]

async function run(
  body: JsonObject | string,
  route: Partial<RouteSpec> = {},
  family: string = 'chat_completions',
) {
  const bound = bench.bind(route)
  const result = await bound.execute[family]?.(providerCall(body))
  if (result?.kind === 'stream') await collectEvents(result)
  const sent = upstream.journal.calls.at(-1) as JournalCall
  return { sent, body: sent.body as JsonObject, result }
}

async function chat(
  fields: JsonObject,
  compatibility: JsonObject = {},
  extraBody: JsonObject = {},
) {
  return (await run({ model: 'asked', messages, ...fields }, { compatibility, extraBody })).body
}

describe('requests', () => {
  test('each family has its path', async () => {
    await run({ model: 'asked', messages })
    await run({ model: 'asked', input: 'x' }, {}, 'responses')
    await run({ model: 'asked', input: 'x' }, {}, 'embeddings')
    expect(upstream.journal.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/chat/completions',
      'POST /v1/responses',
      'POST /v1/embeddings',
    ])
  })

  test('headers: the provider, then the route, then the gateway, then the credentials', async () => {
    const { sent } = await run(
      { model: 'asked', messages },
      { extraHeaders: { 'x-both': 'route', 'X-Request-Id': 'no', 'x-route': 'yes' } },
    )
    expect(sent.headers).toMatchObject({
      'content-type': 'application/json',
      'x-default': 'provider',
      'x-both': 'route',
      'x-route': 'yes',
      'x-request-id': 'bench-request',
      authorization: 'Bearer s3cret',
    })
    expect(sent.headers.traceparent).toStartWith('00-')
  })

  test('without auth only the configured headers are sent', async () => {
    const open = await setUp({
      config: { auth: { mode: 'none' } },
      settings: { defaultHeaders: { 'Api-Key': 'k' } },
    })
    await open.bind().execute.chat_completions?.(providerCall({ model: 'asked', messages }))
    const headers = upstream.journal.calls[0]?.headers
    expect(headers).toMatchObject({ 'api-key': 'k' })
    expect(headers).not.toHaveProperty('authorization')
  })

  test('an untransformed body keeps each byte except the model', async () => {
    const raw =
      '{"seed": 9007199254740993, "model" : "asked", "messages":[{"role":"user","content":"é"}]}'
    for (const family of ['chat_completions', 'responses', 'embeddings'] as const) {
      const { sent } = await run(raw, {}, family)
      expect(sent.rawBody).toBe(
        '{"seed": 9007199254740993,"model":"upstream-model","messages":[{"role":"user","content":"é"}]}',
      )
    }
  })

  test('preserved reasoning of an earlier reply is not sent', async () => {
    const said = { role: 'assistant', content: 'a' }
    const reasoning = { source: 'anthropic_messages', blocks: [] }
    const replayed = { ...said, provider_metadata: { cloud_b_ml: { reasoning } } }
    const body = await chat({ model: 'asked', messages: [...messages, replayed, ...messages] })
    expect(body.messages).toEqual([...messages, said, ...messages])
  })

  test('a user of more than 64 characters from the messages API becomes a hash', async () => {
    const userOf = async (user: string, more: object) => {
      const call = providerCall({ model: 'asked', messages, user })
      await bench.bind({}).execute.chat_completions?.({ ...call, ...more })
      return (upstream.journal.calls.at(-1)?.body as JsonObject | undefined)?.user
    }
    const surface = { surface: 'messages', rawBody: undefined }
    const long = 'u'.repeat(65)
    const hash = createHash('sha256').update(long).digest('base64url')
    expect(await userOf(long, surface)).toBe(`user_${hash}`)
    expect(await userOf(long.slice(1), surface)).toBe(long.slice(1))
    expect(await userOf(long, {})).toBe(long)
  })

  test('extra_body is merged last, shallowly, in all APIs', async () => {
    const extraBody = { model: 'forced', user: null, metadata: { a: 1 }, stream_options: 'x' }
    const fields = { model: 'asked', messages, user: 'me', metadata: { b: 2 }, stream: true }
    const chatBody = await chat(
      fields,
      { generic_compat: { supports_stream_usage: true } },
      extraBody,
    )
    expect(chatBody).toEqual({ messages, stream: true, ...extraBody })
    for (const family of ['responses', 'embeddings'] as const) {
      const { body } = await run({ model: 'asked', input: 'x', user: 'me' }, { extraBody }, family)
      expect(body).toEqual({ input: 'x', ...extraBody })
    }
  })

  test('the reply is returned unchanged', async () => {
    const { result } = await run({ model: 'asked', messages })
    if (result?.kind !== 'buffered') throw new Error('not buffered')
    expect(JSON.parse(result.rawBody ?? '')).toEqual(result.body)
    expect(result.body.model).toBe('upstream-model-2026-08-06')
  })

  test('the price identity is the configured one; a service tier is a billing modifier', async () => {
    expect(bench.bind().pricing).toEqual({ pricingProviderId: 'openai', model: 'upstream-model' })
    const plain = await run({ model: 'asked', messages, service_tier: null })
    const asked = await run({ model: 'asked', messages, service_tier: 'flex', stream: true })
    const forced = await run(
      { model: 'asked', input: 'x' },
      { extraBody: { service_tier: 'priority' } },
      'responses',
    )
    const undone = await run(
      { model: 'asked', messages, service_tier: 'flex' },
      { extraBody: { service_tier: null } },
    )
    expect([plain, asked, forced, undone].map(({ result }) => result?.billingModifiers)).toEqual([
      [],
      ['service_tier'],
      ['service_tier'],
      [],
    ])
    const search = await run({ model: 'asked', messages, web_search_options: {} })
    expect(search.result?.billingModifiers).toEqual(['web_search_options'])
  })

  test.each([
    ['OpenRouter', {}, { zdr: true }, true],
    [
      'OpenRouter, at the price of the list',
      { bills_stated_cost: false },
      { zdr: true },
      undefined,
    ],
    ['another seller', { bills_stated_cost: true }, undefined, true],
    ['without the setting', {}, undefined, undefined],
  ])(
    'the cost that a reply states is billed on a route of %s: %j',
    (_, profile, provider, bills) => {
      const compatibility = {
        generic_compat: profile,
        ...(provider && { aggregator: { provider } }),
      }
      expect(bench.bind({ compatibility }).pricing.billsStatedCost).toBe(bills)
    },
  )
})

describe('tools in the format of the messages API', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const native = { name: 'weather', description: 'Now', input_schema: schema }
  const converted = {
    type: 'function',
    function: { name: 'weather', description: 'Now', parameters: schema },
  }

  test('become function tools; other tools stay', async () => {
    const hosted = { type: 'web_search' }
    const custom = { type: 'custom', name: 'bare', input_schema: {} }
    const body = await chat({ tools: [native, custom, converted, hosted] })
    expect(body.tools).toEqual([
      converted,
      { type: 'function', function: { name: 'bare', parameters: {} } },
      converted,
      hosted,
    ])
  })

  test.each([true, false])('strict: %p', async (strict) => {
    expect((await chat({ tools: [{ ...native, strict }] })).tools).toEqual([
      { ...converted, function: { ...converted.function, strict } },
    ])
  })

  test.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'weather' },
      { type: 'function', function: { name: 'weather' } },
    ],
    ['required', 'required'],
    [
      { type: 'function', function: { name: 'weather' } },
      { type: 'function', function: { name: 'weather' } },
    ],
  ] as [JsonObject, JsonObject][])('tool_choice %j', async (choice, expected) => {
    expect((await chat({ tools: [native], tool_choice: choice })).tool_choice).toEqual(expected)
  })

  test('disable_parallel_tool_use becomes parallel_tool_calls', async () => {
    const choice = { type: 'any', disable_parallel_tool_use: true }
    expect(await chat({ tools: [native], tool_choice: choice })).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
  })
})

describe('ids in responses input', () => {
  const input = async (items: JsonObject[]) =>
    (await run({ model: 'asked', input: items }, {}, 'responses')).body.input as JsonObject[]

  test('valid ids are kept, byte for byte', async () => {
    const items = [
      { type: 'message', id: 'msg_1', role: 'user', content: 'x' },
      { role: 'user', content: 'x' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'function_call', id: 'fc_1', call_id: 'toolu_01', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'toolu_01', output: 'y' },
      { type: 'item_reference', id: 'anything at all' },
      { type: 'constructor', id: 'x y' },
    ]
    expect(await input(items)).toEqual(items)
  })

  test('others become prefix and hash, the same on both sides of a tool pair', async () => {
    const long = 'c'.repeat(65)
    const [call, output, message, reasoning] = await input([
      { type: 'function_call', id: 'call:1', call_id: long, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: long, output: 'y' },
      { role: 'assistant', id: 'foreign', content: 'x' },
      { type: 'reasoning', id: 'fc_1', summary: [] },
    ])
    expect(call?.call_id).toMatch(/^call_[A-Za-z0-9_-]{43}$/)
    expect(output?.call_id).toBe(call?.call_id as string)
    expect(call?.id).toMatch(/^fc_[A-Za-z0-9_-]{43}$/)
    expect(message?.id).toMatch(/^msg_[A-Za-z0-9_-]{43}$/)
    expect(reasoning?.id).toMatch(/^rs_[A-Za-z0-9_-]{43}$/)
    const digest = new Bun.CryptoHasher('sha256').update(long).digest('base64url')
    expect(call?.call_id).toBe(`call_${digest}`)
  })
})
