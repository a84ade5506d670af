/** An agent's turns with models of Google, through a whole gateway and by the official client. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type OpenAI from 'openai'
import { adaKey } from '../../test/harness/gateway.ts'
import { eventStream, lastBody, startVertexGateway } from './testing.ts'

const vertex = await startVertexGateway({
  new: { upstream_model: 'google/gemini-3.5-flash' },
  old: { upstream_model: 'google/gemini-2.5-flash' },
})
const { cloud, gateway } = vertex
beforeEach(() => cloud.clear())
afterAll(vertex.stop)

/** Both an event and a whole reply, of one candidate. */
function answer(parts: JsonObject[], more: JsonObject = {}): void {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
  const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }]
  const reply = { candidates, usageMetadata, modelVersion: 'gemini', responseId: 'r-1' }
  cloud.answer = ({ path }) =>
    path.includes(':stream')
      ? eventStream(`data: ${JSON.stringify(reply)}\r\n\r\n`)
      : Response.json(reply)
}

type Message = OpenAI.ChatCompletionMessageParam
const user: Message = { role: 'user', content: 'The weather in Oslo?' }

async function ask(model: string, messages: Message[], more: object, stream: boolean) {
  const { completions } = gateway.openai(adaKey).chat
  const body = { model, messages, ...more }
  const completion = stream
    ? await completions.stream(body).finalChatCompletion()
    : await completions.create(body)
  const [choice] = completion.choices
  if (choice === undefined) throw new Error('no choice')
  return choice
}

const NAMES = [
  'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItem',
  'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItems',
  '9lives',
  'Wetter für Öslo',
  'get.weather-now',
]
const tools = NAMES.map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', $schema: 'https://json-schema.org/x' } },
}))

describe.each([false, true])('streamed: %p', (stream) => {
  test('tools have valid names upstream, and the caller’s names in replies', async () => {
    answer([{ text: 'ok' }])
    const tool_choice = { type: 'function' as const, function: { name: NAMES[0] ?? '' } }
    await ask('new', [user], { tools, tool_choice }, stream)
    const [{ functionDeclarations }] = lastBody(cloud).tools as [
      { functionDeclarations: { name: string }[] },
    ]
    const sent = functionDeclarations.map(({ name }) => name)
    expect(new Set(sent).size).toBe(NAMES.length)
    expect(sent[4]).toBe('get.weather-now')
    expect(lastBody(cloud).toolConfig).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: sent.slice(0, 1) },
    })
    answer(sent.map((name) => ({ functionCall: { name, args: {} } })))
    const { message } = await ask('new', [user], { tools }, stream)
    const calls = message.tool_calls?.map((call) => call.type === 'function' && call.function.name)
    expect(calls).toEqual(NAMES)
  })

  test('a signature makes the round trip, over two steps and parallel calls', async () => {
    const call = (city: string, more = {}) => ({
      functionCall: { name: 'get.weather-now', args: { city } },
      ...more,
    })
    const history: Message[] = [user]
    for (const thoughtSignature of ['c3RlcDE=', 'c3RlcDI=']) {
      answer([call('Oslo', { thoughtSignature }), call('Bergen')])
      const { message, finish_reason } = await ask('new', history, { tools }, stream)
      expect(finish_reason).toBe('tool_calls')
      const calls = message.tool_calls ?? []
      expect(calls).toMatchObject([
        { extra_content: { google: { thought_signature: thoughtSignature } } },
        {},
      ])
      history.push(message)
      // The other way round, which the service would refuse.
      for (const { id } of [...calls].reverse()) {
        history.push({ role: 'tool', tool_call_id: id, content: id })
      }
    }
    answer([{ text: 'Rain.' }])
    expect((await ask('new', history, { tools }, stream)).message.content).toBe('Rain.')
    const parts = (lastBody(cloud).contents as { parts: JsonObject[] }[]).flatMap(
      (one) => one.parts,
    )
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([
      ...[undefined, 'c3RlcDE=', undefined, undefined, undefined],
      ...['c3RlcDI=', undefined, undefined, undefined],
    ])
    const results = parts.map(({ functionResponse }) => functionResponse).filter(isJsonObject)
    const ids = history.flatMap((one) => (one.role === 'assistant' ? (one.tool_calls ?? []) : []))
    expect(results.map(({ response }) => response)).toEqual(ids.map(({ id }) => ({ output: id })))
  })

  test('accepts a history of another provider', async () => {
    answer([{ text: 'Rain.' }])
    const foreign = [
      user,
      {
        role: 'assistant',
        tool_calls: [
          {
            id: 'toolu_01',
            type: 'function',
            function: { name: 'mcp:get weather', arguments: '{"city": Oslo' },
          },
        ],
      },
      user,
      { role: 'tool', tool_call_id: 'toolu_01', content: '{"$ref":"#/a"}' },
      { role: 'assistant', content: '' },
    ] as Message[]
    for (const model of ['new', 'old']) {
      const { message } = await ask(model, foreign, { store: true }, stream)
      expect(message.content).toBe('Rain.')
    }
  })

  test.each([
    ['MALFORMED_FUNCTION_CALL', []],
    ['UNEXPECTED_TOOL_CALL', [{ functionCall: { name: 'f', args: {} } }]],
    ['OTHER', []],
    ['SOMETHING_NEW', []],
  ])('a model that fails with %s is an error, which is charged', async (finishReason, parts) => {
    answer(parts, { finishReason, finishMessage: 'print(f(x=1)' })
    const body = { model: 'old', messages: [user], stream }
    const response = await gateway.post('/v1/chat/completions', body)
    const text = await response.text()
    expect(response.status).toBe(stream ? 200 : 502)
    expect(text).toContain(`${finishReason}: print(f(x=1)`)
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('finish_reason":"')
    const row = await vertex.ledgerRow(response.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ prompt: 10, completion: 2 })
  })

  test('images and sources are in the reply', async () => {
    const web = { uri: 'https://a.example/', title: 'A' }
    const segment = { endIndex: 4, text: 'Here' }
    answer([{ text: 'Here:' }, { inlineData: { mimeType: 'image/png', data: 'QUJD' } }], {
      groundingMetadata: {
        groundingChunks: [{ web }],
        groundingSupports: [{ segment, groundingChunkIndices: [0] }],
      },
    })
    const body = { modalities: ['text', 'image'], web_search_options: {} }
    const { message } = await ask('new', [user], body, stream)
    expect(message).toMatchObject({
      content: 'Here:',
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }],
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 4 },
        },
      ],
    })
    expect(lastBody(cloud)).toMatchObject({
      tools: [{ googleSearch: {} }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    })
  })
})

test('dropped members are reported', async () => {
  answer([{ text: 'ok' }])
  const content = [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }]
  const response = await gateway.post('/v1/chat/completions', {
    model: 'new',
    messages: [{ role: 'user', content }],
    user: 'me',
    service_tier: 'flex',
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-gateway-dropped')?.split(/,\s*/).sort()).toEqual([
    'messages[].content[].cache_control',
    'service_tier',
    'user',
  ])
})

test('sound, and images in results of tools', async () => {
  answer([{ text: 'ok' }])
  const image = { type: 'image_url', image_url: { url: 'https://h/x', format: 'png' } }
  const messages = [
    {
      role: 'user',
      content: [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } }],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'See:' }, image] },
  ]
  const { status } = await gateway.post('/v1/chat/completions', { model: 'new', messages })
  expect(status).toBe(200)
  expect(lastBody(cloud).contents).toEqual([
    { role: 'user', parts: [{ inlineData: { mimeType: 'audio/mpeg', data: 'QUJD' } }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { name: 'look', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            name: 'look',
            response: { output: 'See:' },
            parts: [{ fileData: { fileUri: 'https://h/x', mimeType: 'image/png' } }],
          },
        },
      ],
    },
  ])
})

test('accepts a history without signatures over the messages API', async () => {
  answer([{ functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2ln' }])
  const body = {
    model: 'new',
    max_tokens: 100,
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
          { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'two' },
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
        ],
      },
    ],
  }
  const response = await gateway.post('/v1/messages', body)
  expect(await response.json()).toMatchObject({
    content: [{ type: 'tool_use', name: 'look' }],
    stop_reason: 'tool_use',
  })
  const [, , results] = lastBody(cloud).contents as { parts: JsonObject[] }[]
  expect(results?.parts).toMatchObject([
    { functionResponse: { response: { output: 'one' } } },
    { functionResponse: { response: { output: 'two' } } },
  ])
})
