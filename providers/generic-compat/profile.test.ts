/** Every row of the two profile tables, as the upstream's journal saw the outbound body. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { collectEvents, providerCall } from 'model-gateway/testing'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench } = await setUpCompat()

const messages = [{ role: 'user', content: 'hi' }]

/** The outbound body of one call. */
async function sent(
  body: JsonObject,
  compatibility: JsonObject,
  family: string = 'chat_completions',
): Promise<JsonObject> {
  const result = await bench.bind({ compatibility }).execute[family]?.(providerCall(body))
  if (result?.kind === 'stream') await collectEvents(result)
  return upstream.journal.calls.at(-1)?.body as JsonObject
}

const chat = (fields: JsonObject, compatibility: JsonObject) =>
  sent({ model: 'asked', messages, ...fields }, compatibility)

describe('the profile', () => {
  const profiled = (fields: JsonObject, profile: JsonObject) =>
    chat(fields, { generic_compat: profile })
  const base = { model: 'upstream-model', messages }

  test('with its defaults it changes nothing', async () => {
    const fields = {
      store: true,
      max_completion_tokens: 5,
      reasoning_effort: 'low',
      messages: [{ role: 'developer', content: 'be brief' }, ...messages],
      stream: true,
      stream_options: { include_obfuscation: false },
    }
    const defaults = {
      supports_store: true,
      max_tokens_field: 'max_completion_tokens',
      developer_role: 'developer',
      reasoning_effort: 'passthrough',
      supports_stream_usage: false,
    }
    expect(await profiled(fields, {})).toEqual({ ...base, ...fields })
    expect(await profiled(fields, defaults)).toEqual({ ...base, ...fields })
  })

  const newer = { max_completion_tokens: 5 }
  test.each<[string, JsonObject, JsonObject]>([
    ['gpt-4.1-mini', {}, { max_tokens: 5 }],
    ['gpt-4o', {}, { max_tokens: 5 }],
    ['gpt-35-turbo', {}, { max_tokens: 5 }],
    ['gpt-oss-120b', {}, { max_tokens: 5 }],
    ['olmo-2', {}, { max_tokens: 5 }],
    ['gpt-5-mini', {}, newer],
    ['gpt-5.5', {}, newer],
    ['openai/o4-mini', {}, newer],
    ['o3', {}, newer],
    ['gpt-5-mini', { max_tokens_field: 'max_tokens' }, { max_tokens: 5 }],
    ['my-deployment', { max_tokens_field: 'max_completion_tokens' }, newer],
  ])(
    'the limit of a messages call to %s, profile %j: %j',
    async (upstreamModel, profile, limit) => {
      const route = { upstreamModel, compatibility: { generic_compat: profile } }
      const call = providerCall({ model: 'asked', messages, max_tokens: 5 })
      await bench
        .bind(route)
        .execute.chat_completions?.({ ...call, surface: 'messages', rawBody: undefined })
      expect(upstream.journal.calls.at(-1)?.body).toEqual({
        model: upstreamModel,
        messages,
        ...limit,
      })
    },
  )

  test('the limit of a chat call keeps its name', async () => {
    const route = { upstreamModel: 'gpt-5-mini', compatibility: {} }
    await bench.bind(route).execute.chat_completions?.(providerCall({ messages, max_tokens: 5 }))
    expect(upstream.journal.calls.at(-1)?.body).toMatchObject({ max_tokens: 5 })
  })

  test.each([
    ['supports_store: false', { supports_store: false }, { store: true }, {}],
    [
      'max_tokens_field: max_tokens',
      { max_tokens_field: 'max_tokens' },
      { max_completion_tokens: 5 },
      { max_tokens: 5 },
    ],
    [
      'max_tokens_field: max_tokens, with a max_tokens of the caller',
      { max_tokens_field: 'max_tokens' },
      { max_completion_tokens: 5, max_tokens: 9 },
      { max_tokens: 9 },
    ],
    [
      'max_tokens_field: max_tokens, where null counts as absent',
      { max_tokens_field: 'max_tokens' },
      { max_completion_tokens: 5, max_tokens: null },
      { max_tokens: 5 },
    ],
    [
      'max_tokens_field: max_tokens, with a null limit',
      { max_tokens_field: 'max_tokens' },
      { max_completion_tokens: null },
      {},
    ],
    ['reasoning_effort: omit', { reasoning_effort: 'omit' }, { reasoning_effort: 'high' }, {}],
    [
      'reasoning_effort: reasoning_object',
      { reasoning_effort: 'reasoning_object' },
      { reasoning_effort: 'high' },
      { reasoning: { effort: 'high' } },
    ],
    [
      'reasoning_effort: reasoning_object, with a reasoning of the caller',
      { reasoning_effort: 'reasoning_object' },
      { reasoning_effort: 'high', reasoning: { max_tokens: 9 } },
      { reasoning: { max_tokens: 9 } },
    ],
    [
      'reasoning_effort: reasoning_object, with a null effort',
      { reasoning_effort: 'reasoning_object' },
      { reasoning_effort: null },
      {},
    ],
    [
      'supports_stream_usage: true',
      { supports_stream_usage: true },
      { stream: true },
      { stream: true, stream_options: { include_usage: true } },
    ],
    [
      'supports_stream_usage: true, keeping other stream options',
      { supports_stream_usage: true },
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    ],
    [
      'supports_stream_usage: true, replacing a value that is not an object',
      { supports_stream_usage: true },
      { stream: true, stream_options: 'all' },
      { stream: true, stream_options: { include_usage: true } },
    ],
    ['supports_stream_usage: true, not streaming', { supports_stream_usage: true }, {}, {}],
  ] as [string, JsonObject, JsonObject, JsonObject][])(
    '%s',
    async (_, profile, fields, expected) => {
      expect(await profiled(fields, profile)).toEqual({ ...base, ...expected })
    },
  )

  test('developer_role: system renames the role and leaves the content alone', async () => {
    const content = [{ type: 'text', text: 'be brief' }]
    const body = await profiled(
      { messages: [{ role: 'developer', content, name: 'n' }, ...messages] },
      { developer_role: 'system' },
    )
    expect(body.messages).toEqual([{ role: 'system', content, name: 'n' }, ...messages])
  })

  test('it does not touch responses and embeddings', async () => {
    const compatibility = {
      generic_compat: {
        supports_store: false,
        reasoning_effort: 'omit',
        supports_stream_usage: true,
      },
      aggregator: { provider: { zdr: true } },
    }
    const fields = {
      model: 'asked',
      input: 'x',
      store: true,
      reasoning_effort: 'low',
      stream: true,
    }
    const expected = { ...fields, model: 'upstream-model' }
    expect(await sent(fields, compatibility, 'responses')).toEqual(expected)
    const { stream, ...buffered } = fields
    expect(await sent(buffered, compatibility, 'embeddings')).toEqual({
      ...buffered,
      model: 'upstream-model',
    })
  })
})

describe('the aggregator block', () => {
  test.each([
    [{ zdr: true }],
    [{ zdr: false, only: ['anthropic'], ignore: ['azure'], order: ['anthropic', 'azure'] }],
    [{ preferred_max_latency: 2.5 }],
    [{ preferred_max_latency: { p50: 1, p75: 1.5, p90: 3, p99: 9 } }],
    [{ max_price: { prompt: 1, completion: 2, request: 0, image: 0.5 } }],
  ] as JsonObject[][])('%j goes out as provider', async (provider) => {
    const expected = { model: 'upstream-model', messages, provider }
    expect(await chat({ provider: 'mine' }, { aggregator: { provider } })).toEqual(
      expected as JsonObject,
    )
  })

  test('slugs are sent trimmed', async () => {
    const body = await chat({}, { aggregator: { provider: { only: [' azure ', 'x'] } } })
    expect(body.provider).toEqual({ only: ['azure', 'x'] })
  })
})

describe('members that the upstream refuses', () => {
  const generic_compat = {
    unsupported_members: ['logprobs', 'n', 'user', 'messages[].reasoning', 'messages[].refusal'],
    supports_stream_usage: 'unasked',
  }
  const thought = { role: 'assistant', content: 'Down.', reasoning: 'Hm.', refusal: null }

  /** The request sent for a call with these members, and the reported drops. */
  async function run(fields: JsonObject, unsupportedParams?: 'drop' | 'reject') {
    const call = providerCall({ model: 'asked', messages: [thought, ...messages], ...fields })
    const bound = bench.bind({
      compatibility: { generic_compat },
      ...(unsupportedParams && { unsupportedParams }),
    })
    await bound.execute.chat_completions?.(call)
    return { body: upstream.journal.calls.at(-1)?.body as JsonObject, told: call.leftOut }
  }

  test('and that do not change the answer are dropped and reported, neutral ones silently', async () => {
    const stream_options = { include_usage: true }
    const { body, told } = await run({ user: 'ada', n: 1, logprobs: false, stream_options })
    expect(body).toEqual({
      model: 'upstream-model',
      messages: [{ role: 'assistant', content: 'Down.' }, ...messages],
    })
    expect(told).toEqual(['user', 'messages[].reasoning'])
  })

  test('and that change the answer are 400 by name, unless the route drops them', async () => {
    await expect(run({ logprobs: true })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^logprobs is not supported by this route/),
    })
    await expect(run({ user: 'ada' }, 'reject')).rejects.toThrow('user is not supported')
    expect((await run({ logprobs: true, n: 2 }, 'drop')).told).toContain('logprobs')
  })
})
