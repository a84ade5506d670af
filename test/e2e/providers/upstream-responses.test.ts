/** Official clients of chat and messages over models that OpenAI serves by its responses API alone. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type OpenAI from 'openai'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { strictly } from '../../harness/strict-clouds.ts'
import {
  believable,
  json,
  type Reply,
  responsesUsage,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  upstream = await startUpstream()
  const route = (upstream_model: string, profile: JsonObject) => ({
    provider: 'up',
    upstream_model,
    compatibility: { generic_compat: profile },
  })
  gateway = await startTestGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [
      { id: 'reasons', routes: [route('gpt-5.5', { upstream_api: 'responses' })] },
      { id: 'mini', routes: [route('gpt-4.1-mini', { supports_stream_usage: true })] },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'gpt-5.5',
          input_usd_per_million: '2',
          cache_read_usd_per_million: '1',
          output_usd_per_million: '10',
        },
      ],
    },
  })
  openai = gateway.openai(adaKey)
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: adaKey, maxRetries: 0 })
})
beforeEach(() => {
  upstream.clear()
  upstream.always(likeOpenAi(strictly(believable({ reasoning: 'Hm.' }))))
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** Refuses what OpenAI refuses on `/v1/chat/completions`. */
function likeOpenAi(reply: Reply): Reply {
  return (x) => {
    const { path, body } = x.call
    const { model, tools, reasoning_effort } = isJsonObject(body) ? body : {}
    const plain = String(model).startsWith('gpt-4') && reasoning_effort !== undefined
    const refusal = plain
      ? "Unsupported parameter: 'reasoning_effort' is not supported with this model."
      : `Function tools with reasoning_effort are not supported for ${String(model)} in /v1/chat/completions. Please use /v1/responses instead.`
    const isRefused = path.endsWith('/chat/completions') && (plain || model === 'gpt-5.5')
    if (!isRefused || (!plain && tools === undefined)) return reply(x)
    const error = { message: refusal, type: 'invalid_request_error', param: 'reasoning_effort' }
    return json({ error }, 400)(x)
  }
}

const sent = (index: number) => upstream.journal.calls[index]?.body as JsonObject
const itemTypes = (index: number) => (sent(index).input as JsonObject[]).map(({ type }) => type)
const question = { role: 'user' as const, content: 'What is the weather in Oslo?' }
const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
const weather = { name: 'get_weather', description: 'The weather in a city', parameters: schema }

/** So many rows of the ledger: all since the last time. */
async function booked(count: number) {
  return await eventually(async () => {
    const rows = await gateway.sql`
      select uncached_input_tokens::int as uncached, cache_read_tokens::int as cached,
        completion_tokens::int as output, cost_pico_usd::text as cost
      from accounting.usage_cost_events order by occurred_at desc limit ${count}`
    const [{ all }] = (await gateway.sql`
      select count(*)::int as all from accounting.usage_cost_events`) as unknown as [
      { all: number },
    ]
    if (all < known + count) return undefined
    known = all
    return rows.map((row) => ({ ...row }))
  })
}
let known = 0
const { input_tokens, output_tokens, input_tokens_details } = responsesUsage
const { cached_tokens: cached } = input_tokens_details
const uncached = input_tokens - cached
const row = {
  ...{ uncached, cached, output: output_tokens },
  cost: String((uncached * 2 + cached + output_tokens * 10) * 1_000_000),
}

describe.each([false, true])('the openai client, streamed: %p', (stream) => {
  test('calls a tool and answers, though its runner keeps nothing of what the model thought', async () => {
    const called: string[] = []
    const run = {
      model: 'reasons',
      messages: [question],
      reasoning_effort: 'low' as const,
      tools: [
        {
          type: 'function' as const,
          function: {
            ...weather,
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => {
              called.push(city)
              return 'sunny'
            },
          },
        },
      ],
    }
    const runner = stream
      ? openai.chat.completions.runTools({ ...run, stream: true })
      : openai.chat.completions.runTools(run)
    expect(await runner.finalContent()).toBe('Rivers run to the sea, größer — 海.')
    expect(called).toEqual(['Oslo'])
    expect(upstream.journal.calls.map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/responses',
    ])
    expect(sent(0)).toMatchObject({ reasoning: { effort: 'low' }, store: false })
    expect(itemTypes(1)).toEqual(['message', 'function_call', 'function_call_output'])
    expect(await booked(2)).toEqual([row, row])
  })

  test('what the model thought goes along with a message that is sent back whole', async () => {
    const tools = [{ type: 'function' as const, function: weather }]
    const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
      const asked = { model: 'reasons', messages, tools }
      const chat = stream
        ? await openai.chat.completions.stream(asked).finalChatCompletion()
        : await openai.chat.completions.create(asked)
      return chat.choices[0]?.message as OpenAI.ChatCompletionMessage
    }
    const said = await ask([question])
    const id = said.tool_calls?.[0]?.id as string
    const last = await ask([question, said, { role: 'tool', tool_call_id: id, content: 'sunny' }])
    expect(last.content).toBe('Rivers run to the sea, größer — 海.')
    expect(itemTypes(1)).toEqual(['message', 'reasoning', 'function_call', 'function_call_output'])
    expect(await booked(2)).toEqual([row, row])
  })

  test('reads text, reasoning and counters', async () => {
    const asked = { model: 'reasons', messages: [question] }
    const chat = stream
      ? await openai.chat.completions
          .stream({ ...asked, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create(asked)
    expect(chat).toMatchObject({
      model: 'reasons',
      choices: [{ finish_reason: 'stop', message: { role: 'assistant', reasoning: 'Hm.' } }],
      usage: {
        prompt_tokens: 31,
        completion_tokens: 12,
        total_tokens: 43,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    })
    expect(await booked(1)).toEqual([row])
  })

  test('is told how a response failed', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Too many tokens.' }
    const response = { id: 'resp_1', status: 'failed', error, output: [], usage: responsesUsage }
    upstream.always(json(response))
    const failed = async () => {
      const asked = { model: 'reasons', messages: [question] }
      if (!stream) return await openai.chat.completions.create(asked)
      return await openai.chat.completions.stream(asked).finalChatCompletion()
    }
    await expect(failed()).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    // What it has counted is charged all the same.
    expect(await booked(1)).toEqual([row])
  })
})

describe('the anthropic client', () => {
  /** As Claude Code asks: with an effort, thinking, tools. */
  const claude = {
    max_tokens: 200,
    messages: [question],
    thinking: { type: 'adaptive' as const },
    output_config: { effort: 'high' as const },
    tools: [{ name: 'get_weather', description: 'The weather', input_schema: schema }],
  }

  test('calls a tool over a model that reasons, at its effort', async () => {
    let runs = 0
    const tool = betaTool({
      name: 'get_weather',
      description: 'The weather',
      inputSchema: schema,
      run: () => `sunny (${++runs})`,
    })
    const reply = await anthropic.beta.messages.toolRunner({
      ...claude,
      model: 'reasons',
      tools: [tool],
    })
    expect([reply.stop_reason, runs]).toEqual(['end_turn', 1])
    expect(upstream.journal.calls.map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/responses',
    ])
    expect(sent(0)).toMatchObject({
      reasoning: { effort: 'high' },
      max_output_tokens: 200,
      tools: [{ type: 'function', name: 'get_weather', strict: false }],
    })
    // What the model thought came back sealed, and goes on.
    expect(itemTypes(1)).toEqual(['message', 'reasoning', 'function_call', 'function_call_output'])
    expect(await booked(2)).toEqual([row, row])
  })

  test('the same, streamed', async () => {
    const message = await anthropic.messages.stream({ ...claude, model: 'reasons' }).finalMessage()
    expect(message).toMatchObject({
      model: 'reasons',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo' } },
        { type: 'redacted_thinking', data: expect.stringMatching(/^model-gateway:/) },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 15, cache_read_input_tokens: 16, output_tokens: 12 },
    })
    expect(await booked(1)).toEqual([row])
  })

  test('a model that does not reason is not sent an effort, and the caller is told', async () => {
    const { data, response } = await anthropic.messages
      .create({ ...claude, model: 'mini' })
      .withResponse()
    expect(data.stop_reason).toBe('tool_use')
    expect(sent(0)).not.toHaveProperty('reasoning_effort')
    expect(response.headers.get('x-gateway-dropped')).toBe('thinking, output_config.effort')
  })
})
