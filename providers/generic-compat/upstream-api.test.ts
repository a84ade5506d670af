/** Routes whose chat completions go over the responses API of the upstream. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import { collectEvents, json, providerCall, sse } from 'model-gateway/testing'
import { collectChat } from 'model-gateway/wire'
import { strictly } from '../../test/harness/strict-clouds.ts'
import { believable } from '../../test/harness/upstream.ts'
import { setUpCompat } from './__fixtures__/set-up.ts'
import { checkRoute } from './config.ts'

const { upstream, bench, setUp } = await setUpCompat()

const messages: JsonValue[] = [{ role: 'user', content: 'hi' }]
const tools = [{ type: 'function', function: { name: 'f' } }]
const generic_compat = { upstream_api: 'responses' }

async function chat(
  fields: JsonObject,
  route: Partial<RouteSpec> = {},
  profile: JsonObject = {},
  more: object = {},
) {
  const compatibility = { generic_compat: { ...generic_compat, ...profile } }
  const bound = bench.bind({ upstreamModel: 'gpt-5.5', compatibility, ...route })
  const call = { ...providerCall({ model: 'asked', messages, ...fields }), ...more }
  const result = await bound.execute.chat_completions?.(call)
  if (result === undefined) throw new Error('no executor')
  const reply =
    result.kind === 'stream'
      ? collectChat(await collectEvents(result))
      : (result.body as JsonObject)
  const sent = upstream.journal.calls.at(-1)
  return { result, reply, path: sent?.path, sent: sent?.body as JsonObject }
}
const messageOf = (reply: JsonObject) => (reply.choices as [{ message: JsonObject }])[0].message

describe('which API', () => {
  const api = async (base_url: string, upstreamModel: string, upstream_api?: string) => {
    const other = await setUp({ config: { base_url } })
    const profile = upstream_api === undefined ? {} : { upstream_api }
    const route = { upstreamModel, compatibility: { generic_compat: profile } }
    const { execute, takesEffort } = other.bind(route)
    const call = providerCall({ model: 'asked', messages, n: 2 })
    // One choice is all that the responses API has.
    const outcome = Promise.resolve()
      .then(() => execute.chat_completions?.({ ...call, signal: AbortSignal.abort() }))
      .then(() => 'chat')
      .catch((error: Error) => (error.message.startsWith('n is not') ? 'responses' : 'chat'))
    return [await outcome, takesEffort]
  }
  const openai = 'https://api.openai.com/v1'

  test.each<[string, string, string | undefined, [string, boolean | 'without_tools']]>([
    [openai, 'gpt-5.5', undefined, ['responses', true]],
    ['https://eu.api.openai.com/v1', 'gpt-5.4-mini', undefined, ['responses', true]],
    [openai, 'o3-pro', undefined, ['responses', true]],
    [openai, 'gpt-5.5', 'chat', ['chat', 'without_tools']],
    [openai, 'gpt-5-mini', undefined, ['chat', true]],
    [openai, 'gpt-4.1-mini', undefined, ['chat', false]],
    ['https://openrouter.ai/api/v1', 'openai/gpt-5.5', undefined, ['chat', 'without_tools']],
    ['https://x.openai.azure.com/openai/v1', 'gpt-5.5', 'responses', ['responses', true]],
    ['https://api.openai.com.example.net/v1', 'gpt-5.5', undefined, ['chat', 'without_tools']],
  ])('%s, %s, upstream_api %p: %p', async (baseUrl, model, stated, expected) => {
    expect(await api(baseUrl, model, stated)).toEqual(expected)
  })

  test('responses and embeddings calls are unchanged', async () => {
    const bound = bench.bind({ compatibility: { generic_compat } })
    for (const dialect of ['responses', 'embeddings']) {
      await bound.execute[dialect]?.(providerCall({ model: 'asked', input: 'x' }))
      const sent = upstream.journal.calls.at(-1)
      expect([sent?.path, sent?.body]).toEqual([
        `/v1/${dialect}`,
        { model: 'upstream-model', input: 'x' },
      ])
    }
  })

  test('no warning of streams without counters: responses always tell them', () => {
    const provider = { base_url: openai, pricing_provider_id: 'openai' }
    expect([...checkRoute({ upstream_model: 'gpt-5.5' }, provider)]).toEqual([])
    expect([...checkRoute({ upstream_model: 'gpt-5-mini' }, provider)]).toHaveLength(1)
  })
})

describe.each([false, true])('a call, streamed: %p', (stream) => {
  test('is converted to a responses call, and the reply to a chat', async () => {
    upstream.always(strictly(believable()))
    const { path, sent, reply } = await chat({ stream, tools, reasoning_effort: 'low' })
    expect([path, sent]).toEqual([
      '/v1/responses',
      {
        model: 'gpt-5.5',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
        tools: [
          {
            type: 'function',
            name: 'f',
            parameters: { type: 'object', properties: {} },
            strict: false,
          },
        ],
        reasoning: { effort: 'low' },
        include: ['reasoning.encrypted_content'],
        store: false,
        ...(stream && { stream }),
      },
    ])
    expect(reply).toMatchObject({
      model: 'asked',
      provider_model: 'gpt-5.5-2026-08-06',
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 31, completion_tokens: 12, total_tokens: 43 },
    })
    expect(messageOf(reply).tool_calls).toMatchObject([
      { type: 'function', function: { name: 'f', arguments: '{"city":"Oslo"}' } },
    ])
  })

  test('reasoning is returned, and sent again in its place', async () => {
    upstream.always(strictly(believable({ reasoning: 'Hm.' })))
    const { reply } = await chat({ stream, tools })
    const said = messageOf(reply)
    expect(said.reasoning).toBe('Hm.')
    const [call] = said.tool_calls as [JsonObject]
    const again = [...messages, said, { role: 'tool', tool_call_id: call.id, content: 'rain' }]
    const { sent } = await chat({ stream, tools, messages: again as JsonValue[] })
    const types = (sent.input as JsonObject[]).map(({ type }) => type)
    expect(types).toEqual(['message', 'reasoning', 'function_call', 'function_call_output'])
    expect((sent.input as JsonObject[])[1]).toEqual({
      type: 'reasoning',
      id: 'rs_68f1a2b3c4d8',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'gAAAAABo8aKzxQ',
    })
  })

  test('reasoning of another account is dropped, and the conversation continues', async () => {
    upstream.always(believable({ reasoning: 'Hm.' }))
    const { reply } = await chat({ stream, tools })
    const said = messageOf(reply)
    const refusal = (message: string) =>
      json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, 400)
    const again = [...messages, { ...said, tool_calls: [], content: 'a' }, ...messages]
    const turn = { messages: again as JsonValue[], stream }
    for (const [words, include] of [
      ['The encrypted content gAAA... could not be verified.', ['reasoning.encrypted_content']],
      ['Encrypted content is not supported with this model.', undefined],
    ] as const) {
      upstream.clear()
      upstream.script(refusal(words))
      const { sent } = await chat(turn)
      expect(upstream.journal.calls).toHaveLength(2)
      expect(JSON.stringify(sent.input)).not.toContain('gAAA')
      expect(sent.include).toEqual(include as never)
    }
    upstream.script(refusal('Something else.'))
    await expect(chat(turn)).rejects.toThrow('Something else.')
  })
})

test('the profile of chat applies', async () => {
  const profile = { supports_store: false, developer_role: 'system', reasoning_effort: 'omit' }
  const fields = { store: true, reasoning_effort: 'low' }
  const developer = [{ role: 'developer', content: 'be brief' }, ...messages]
  const { sent } = await chat({ ...fields, messages: developer }, {}, profile)
  expect(sent).not.toHaveProperty('store')
  expect(sent).not.toHaveProperty('reasoning')
  expect((sent.input as JsonObject[])[0]).toMatchObject({ role: 'system' })
})

test('extra_body is merged last, shallowly, and its tier is a billing modifier', async () => {
  const extraBody = { reasoning: { summary: 'auto' }, service_tier: 'flex' }
  const { sent, result } = await chat({ reasoning_effort: 'low' }, { extraBody })
  expect(sent).toMatchObject({ reasoning: { summary: 'auto' }, service_tier: 'flex' })
  expect(result.billingModifiers).toEqual(['service_tier'])
})

test('a call of the messages API: limit, long user, long names of tools', async () => {
  upstream.always(strictly(believable()))
  const name = 'mcp__tracker__'.padEnd(100, 'x')
  const fields = {
    max_tokens: 5,
    user: 'u'.repeat(65),
    tools: [{ type: 'function', function: { name } }],
  }
  const { sent, reply } = await chat(fields, {}, {}, { surface: 'messages', rawBody: undefined })
  expect(sent.max_output_tokens).toBe(16)
  expect(sent.user).toMatch(/^user_/)
  expect(messageOf(reply).tool_calls).toMatchObject([{ function: { name } }])
})

test('images stay in tool results on responses routes, as `reads` says', () => {
  const reads = (upstream_api: string) =>
    bench.bind({ compatibility: { generic_compat: { upstream_api } } }).reads
  expect([reads('responses'), reads('chat')]).toEqual([['tool_images', 'provider_metadata'], []])
})

test('members that select a model or seller are refused as on chat', async () => {
  await expect(chat({ models: ['other'] })).rejects.toThrow('models')
})

test('chunks with only usage are sent only to callers that asked', async () => {
  const asked = { usage_chunks: 'asked' }
  const plain = await chat({ stream: true }, {}, asked)
  expect(plain.result).toMatchObject({ usageUnasked: true })
  const options = { stream_options: { include_usage: true } }
  expect((await chat({ stream: true, ...options }, {}, asked)).result).toMatchObject({
    usageUnasked: false,
  })
})

test('a whole reply to a stream call, and a stream reply to a buffered call', async () => {
  const response = { id: 'resp_1', status: 'completed', output: [] as JsonValue[] }
  const part = { type: 'output_text', text: 'Hallo' }
  response.output = [{ type: 'message', content: [part] }]
  upstream.script(json(response))
  expect(messageOf((await chat({ stream: true })).reply).content).toBe('Hallo')
  upstream.script(sse([`data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`]))
  expect(messageOf((await chat({})).reply).content).toBe('Hallo')
})
