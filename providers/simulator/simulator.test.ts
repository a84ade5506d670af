import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import type { ProviderResult } from 'model-gateway/provider'
import { collectEvents, providerCall, setUpProvider, testProvider } from 'model-gateway/testing'
import plugin from './index.ts'

testProvider({ plugin, type: 'simulator', config: () => ({}), upstream: 'none' })

async function ask(body: JsonObject, family: string = 'chat_completions', config: JsonObject = {}) {
  const bench = await setUpProvider({ plugin, type: 'simulator', config })
  return (await bench
    .bind()
    .execute[family]?.(providerCall({ model: 'demo', ...body }))) as ProviderResult
}

// biome-ignore lint/suspicious/noExplicitAny: replies are read loosely here
async function buffered(...args: Parameters<typeof ask>): Promise<any> {
  const result = await ask(...args)
  if (result.kind !== 'buffered') throw new Error('not buffered')
  return result.body
}

/** Stream events as JSON, without `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: replies are read loosely here
async function streamed([body, ...rest]: Parameters<typeof ask>): Promise<any[]> {
  const events = await collectEvents(await ask({ ...body, stream: true }, ...rest))
  return events.filter((event) => event.data !== '[DONE]').map((event) => event.json())
}

const user = (content: string) => ({ messages: [{ role: 'user', content }] })
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] } },
      required: ['city', 'unit'],
    },
  },
}

describe('chat completions', () => {
  test('a reply quotes the question and names the simulator', async () => {
    const reply = await buffered(user('Where do rivers run?'))
    const { message, finish_reason } = reply.choices[0]
    expect(message.content).toContain('Where do rivers run?')
    expect(message.content).toContain('simulator')
    expect([reply.object, reply.model, finish_reason]).toEqual([
      'chat.completion',
      'upstream-model',
      'stop',
    ])
    expect(reply.usage).toEqual({
      prompt_tokens: 5,
      completion_tokens: Math.ceil(message.content.length / 4),
      total_tokens: 5 + Math.ceil(message.content.length / 4),
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    })
  })

  test('the same question gets the same answer', async () => {
    const text = async () => (await buffered(user('Again?'))).choices[0].message
    expect(await text()).toEqual(await text())
  })

  test('a stream is the buffered reply in several events, its usage last', async () => {
    const whole = await buffered(user('Hi  there,\n\n 🌊 and so on'))
    const chunks = await streamed([user('Hi  there,\n\n 🌊 and so on')])
    expect(chunks.length).toBeGreaterThan(5)
    expect(chunks.map((c) => c.choices[0]?.delta.content ?? '').join('')).toBe(
      whole.choices[0].message.content,
    )
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop')
  })

  test.each([
    ['the message names it', 'What does get_weather say?', undefined, true],
    ['the message names it in words', 'Get weather, please', undefined, true],
    ['nothing asks for it', 'Hello', undefined, false],
    ['it has to', 'Hello', 'required', true],
    ['it is named', 'Hello', { type: 'function', function: { name: 'get_weather' } }, true],
    ['it must not', 'Call get_weather', 'none', false],
  ])('a tool when %s', async (_, content, choice, called) => {
    const body = { ...user(content), tools: [weather], ...(choice && { tool_choice: choice }) }
    const { message, finish_reason } = (await buffered(body)).choices[0]
    expect(finish_reason).toBe(called ? 'tool_calls' : 'stop')
    if (!called) return
    expect(message.content).toBeNull()
    const { name, arguments: args } = message.tool_calls[0].function
    expect([name, JSON.parse(args)]).toEqual(['get_weather', { city: 'example', unit: 'c' }])
    const deltas = (await streamed([body])).flatMap((c) => c.choices[0]?.delta.tool_calls ?? [])
    expect(deltas[0]).toMatchObject({ index: 0, type: 'function', function: { name } })
    expect(deltas.map((d) => d.function.arguments).join('')).toBe(args)
  })

  test('a tool result is quoted, and the tool not called again', async () => {
    const messages = [
      { role: 'user', content: 'Use get_weather' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', tool_call_id: 'x', content: '11 degrees' },
    ]
    const { message } = (await buffered({ messages, tools: [weather] })).choices[0]
    expect(message.content).toContain('11 degrees')
  })

  test('returns JSON if requested', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } }
    const strict = await buffered({ ...user('x'), response_format: format })
    expect(JSON.parse(strict.choices[0].message.content)).toEqual({ n: 1 })
    const loose = await buffered({ ...user('x'), response_format: { type: 'json_object' } })
    expect(JSON.parse(loose.choices[0].message.content)).toBeObject()
  })

  test('max_tokens truncates the reply', async () => {
    const reply = await buffered({ ...user('x'), max_tokens: 3 })
    expect(reply.choices[0]).toMatchObject({ finish_reason: 'length' })
    expect(reply.usage.completion_tokens).toBe(3)
  })

  test('images are accepted and reported as unseen', async () => {
    const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    const content = [{ type: 'text', text: 'What is this?' }, part]
    const { message } = (await buffered({ messages: [{ role: 'user', content }] })).choices[0]
    expect(message.content).toContain('What is this?')
    expect(message.content).toContain('cannot see the image')
  })

  test.each([
    [{}],
    [{ messages: [] }],
    [{ messages: 'hi' }],
    [{ messages: [1] }],
  ] as JsonObject[][])('%j is an invalid request', async (body) => {
    await expect(ask(body as JsonObject)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'messages must be a list of objects and not empty',
    })
  })
})

describe('responses', () => {
  test('a text, buffered and as events in order', async () => {
    const body = { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Rivers?' }] }] }
    const whole = await buffered(body, 'responses')
    const events = await streamed([body, 'responses'])
    expect(whole.output[0].content[0].text).toContain('Rivers?')
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i))
    const types = events.map(({ type }) => type.replace('response.', ''))
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    const text = events.map((e) => (e.type.endsWith('text.delta') ? e.delta : '')).join('')
    expect(text).toBe(whole.output[0].content[0].text)
    expect(events.at(-1).response.output).toEqual(whole.output)
    expect(events.at(-1).response.usage).toEqual(whole.usage)
    // Official clients have both of them as numbers that are always there.
    const { input_tokens_details: details } = whole.usage
    expect(details).toEqual({ cached_tokens: 0, cache_write_tokens: 0 })
  })

  test('a function call', async () => {
    const tool = { type: 'function', name: 'get_weather', parameters: weather.function.parameters }
    const body = { input: 'hello', tools: [tool], tool_choice: 'required' }
    const [call] = (await buffered(body, 'responses')).output
    expect(call).toMatchObject({ type: 'function_call', name: 'get_weather', status: 'completed' })
    const events = await streamed([body, 'responses'])
    const done = events.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(JSON.parse(done.arguments)).toEqual({ city: 'example', unit: 'c' })
    const output = { type: 'function_call_output', call_id: call.call_id, output: '11 degrees' }
    const input = [{ role: 'user', content: 'get_weather' }, call, output]
    const [message] = (await buffered({ input, tools: [tool] }, 'responses')).output
    expect(message.content[0].text).toContain('11 degrees')
  })

  test('a text format with a schema, and a truncated answer', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const text = { format: { type: 'json_schema', name: 'x', schema } }
    const reply = await buffered({ input: 'x', text }, 'responses')
    expect(JSON.parse(reply.output[0].content[0].text)).toEqual({ ok: true })
    const events = await streamed([{ input: 'x', max_output_tokens: 2 }, 'responses'])
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    })
  })
})

describe('embeddings', () => {
  const vectors = async (body: JsonObject): Promise<number[][]> =>
    (await buffered(body, 'embeddings')).data.map((d: { embedding: number[] }) => d.embedding)

  test('unit vectors that depend only on the text', async () => {
    const [a, b, again] = await vectors({ input: ['river', 'sea', 'river'] })
    expect(a).toEqual(again as number[])
    expect(a).not.toEqual(b as number[])
    expect(a).toHaveLength(256)
    expect(a?.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 5)
    expect(await vectors({ input: 'river' })).toEqual([a as number[]])
  })

  test('dimensions and base64', async () => {
    const [floats] = await vectors({ input: 'x', dimensions: 3 })
    const [packed] = (
      await buffered({ input: 'x', dimensions: 3, encoding_format: 'base64' }, 'embeddings')
    ).data
    const bytes = new Uint8Array(Buffer.from(packed.embedding, 'base64'))
    expect([...new Float32Array(bytes.buffer)]).toEqual(floats as number[])
  })

  test('tokens are counted', async () => {
    const reply = await buffered({ input: [[1, 2, 3], [4]] }, 'embeddings')
    expect(reply.data).toHaveLength(2)
    expect(reply.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
  })

  test.each([
    [{}, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', ''] }, 'input'],
    [{ input: [{ a: 1 }] }, 'input'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: 'a', dimensions: 1e9 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ] as [JsonObject, string][])('%j is an invalid request about %s', async (body, field) => {
    const error = await ask(body, 'embeddings').catch((reason) => reason)
    expect(error).toMatchObject({ code: 'invalid_request' })
    expect(error.message).toStartWith(field)
  })
})
