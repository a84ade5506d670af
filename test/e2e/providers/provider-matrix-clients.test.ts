/** The official clients, unmodified, with every route that can serve them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { spoken } from '../../harness/upstream.ts'
import { type Clouds, startClouds } from '../../harness/upstream-clouds.ts'
import { type Asked, matrixConfig, question, routes } from './provider-matrix.fixture.ts'

let clouds: Clouds
let gateway: TestGateway
let openai: OpenAI
let anthropic: Anthropic
beforeAll(async () => {
  clouds = await startClouds()
  gateway = await startTestGateway(matrixConfig(clouds.providers))
  openai = gateway.openai(adaKey)
  anthropic = new Anthropic({
    baseURL: gateway.url,
    apiKey: adaKey,
    maxRetries: 0,
    timeout: 60_000,
  })
})
beforeEach(() => clouds.clear())
afterAll(async () => {
  await gateway?.stop()
  await clouds?.stop()
})

const TEXT = spoken.pieces.join('')
const user = { role: 'user' as const, content: question }
const schema = { type: 'object' as const, properties: { city: { type: 'string' } } }
const serving = (family: Asked) =>
  routes.flatMap((route) =>
    route.families.includes(family)
      ? [[route.id, route.refuses?.includes('stream') !== true] as const]
      : [],
  )
const modes = (family: Asked) =>
  serving(family).flatMap(([id, streams]) =>
    [false, true].map((stream) => [id, stream, stream && !streams] as const),
  )

describe.each(modes('chat_completions'))('%s, streamed: %p', (model, stream, refused) => {
  test('the openai client: a call, its result, an answer', async () => {
    const fn = { name: 'get_weather', parameters: schema }
    const tools = [{ type: 'function' as const, function: fn }]
    const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
      const request = { model, max_tokens: 100, messages, tools }
      const { completions } = openai.chat
      return stream
        ? await completions.stream(request).finalChatCompletion()
        : await completions.create(request)
    }
    if (refused) {
      expect(await ask([user]).catch((error) => error)).toMatchObject({
        status: 400,
        code: 'invalid_request',
      })
      expect(clouds.calls).toEqual([])
      return
    }
    const [first] = (await ask([user])).choices
    expect(first?.finish_reason).toBe('tool_calls')
    const [call] = first?.message.tool_calls ?? []
    if (first === undefined || call?.type !== 'function') throw new Error('no call')
    expect(call.function).toMatchObject({ name: 'get_weather', arguments: '{"city":"Oslo"}' })
    const result = { role: 'tool' as const, tool_call_id: call.id, content: 'clear' }
    const completion = await ask([user, first.message, result])
    expect(completion.model).toBe(model)
    expect(completion.usage?.total_tokens).toBe(stream && noUsage(model) ? undefined : 41)
    expect(completion.choices[0]?.message.content).toBe(TEXT)
    expect(completion.choices[0]?.finish_reason).toBe('stop')
  })

  test('the anthropic client: a call, its result, an answer', async () => {
    const tools = [{ name: 'get_weather', input_schema: schema }]
    const ask = async (messages: Anthropic.MessageParam[]) => {
      const request = { model, max_tokens: 100, messages, tools }
      return stream
        ? await anthropic.messages.stream(request).finalMessage()
        : await anthropic.messages.create(request)
    }
    if (refused) {
      expect(await ask([user]).catch((error) => error)).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
      })
      expect(clouds.calls).toEqual([])
      return
    }
    clouds.reasoning = 'Hm.'
    const first = await ask([user])
    expect(first.stop_reason).toBe('tool_use')
    const call = first.content.find((block) => block.type === 'tool_use')
    expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Oslo' } })
    const result = {
      type: 'tool_result' as const,
      tool_use_id: call?.id ?? '',
      content: [{ type: 'text' as const, text: 'clear' }],
    }
    const message = await ask([
      user,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result] },
    ])
    expect(message).toMatchObject({ model, stop_reason: 'end_turn' })
    expect(message.content.at(-1)).toMatchObject({ type: 'text', text: TEXT })
    if (!(stream && noUsage(model))) {
      const usage = { input_tokens: 16, cache_read_input_tokens: 8, output_tokens: 17 }
      expect(message.usage).toMatchObject(usage)
    }
  })
})

/** These count in a stream only when the caller asks, which neither helper does. */
const noUsage = (model: string) => model.endsWith('generic_chat')

describe.each(serving('responses'))('%s', (model) => {
  const tools = [
    { type: 'function' as const, name: 'get_weather', parameters: schema, strict: false },
  ]
  test('responses of the openai client, with a call', async () => {
    const response = await openai.responses.create({ model, input: question, tools })
    expect(response.output[0]).toMatchObject({ type: 'function_call', name: 'get_weather' })
    expect((await openai.responses.create({ model, input: question })).output_text).toBe(TEXT)
  })

  test('streamed', async () => {
    const call = await openai.responses.stream({ model, input: question, tools }).finalResponse()
    expect(call.output[0]).toMatchObject({ type: 'function_call', arguments: '{"city":"Oslo"}' })
    const response = await openai.responses.stream({ model, input: question }).finalResponse()
    expect([response.model, response.output_text]).toEqual([model, TEXT])
  })
})

test.each(serving('embeddings'))('%s: embeddings of the openai client', async (model) => {
  const request = { model, input: ['river', 'sea'] }
  const list = await openai.embeddings.create({ ...request, encoding_format: 'float' })
  expect(list.data.map(({ embedding }) => embedding.length)).toEqual([3, 3])

  // By itself the client asks for base64, which Vertex AI does not have.
  const bare = await openai.embeddings.create(request).catch((error) => error)
  if (model.startsWith('cloud_a_ml')) expect(bare).toMatchObject({ status: 400 })
  else expect(bare.data.map((one: OpenAI.Embedding) => one.embedding.length)).toEqual([3, 3])
})
