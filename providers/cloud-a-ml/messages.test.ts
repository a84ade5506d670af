/** Models of Anthropic: rawPredict and streamRawPredict. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { collectEvents } from 'model-gateway/testing'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import { usageFromMessages } from '../_shared/chat-usage.ts'
import { foldChat, gistOf } from '../_shared/fold-chat.fixture.ts'
import { chatChunksFromMessages } from '../_shared/messages-stream.ts'
import { createToolNames, NAMES_OF_64 } from '../_shared/tool-names.ts'
import { bodyOf, eventStream, lastBody, startVertex } from './testing.ts'

const vertex = await startVertex()
const { cloud, run } = vertex
const folder = `${import.meta.dir}/../_shared/__fixtures__`
const reply: JsonObject = await Bun.file(`${folder}/messages-tools.json`).json()
const sse = await Bun.file(`${folder}/messages-tools.sse`).bytes()

const messages = [{ role: 'user', content: 'hi' }]
const MODEL = 'anthropic/claude-sonnet-4-6'
beforeEach(() => {
  cloud.clear()
  cloud.answer = ({ path }) =>
    path.endsWith(':streamRawPredict') ? eventStream(sse) : Response.json(reply)
})
afterAll(vertex.stop)

async function sent(fields: JsonObject, extraBody: JsonObject = {}): Promise<JsonObject> {
  await run(MODEL, { messages, ...fields }, { extraBody })
  return lastBody(cloud)
}

describe('a call', () => {
  test('buffered and streamed calls have different paths, and the model is only in the path', async () => {
    const base = '/v1/projects/demo-project/locations/global/publishers/anthropic/models/'
    await run('anthropic/claude-sonnet-4-5@20250929', { messages })
    expect(cloud.calls[0]?.path).toBe(`${base}claude-sonnet-4-5@20250929:rawPredict`)
    expect(cloud.calls[0]?.body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 4096,
      stream: false,
      messages: [{ role: 'user', content: 'hi' }],
    })
    await collectEvents(await run(MODEL, { messages, stream: true, stream_options: {} }))
    expect(cloud.calls[1]?.path).toBe(`${base}claude-sonnet-4-6:streamRawPredict`)
    expect(cloud.calls[1]?.body).toMatchObject({ stream: true })
    expect(cloud.calls[1]?.body).not.toHaveProperty('stream_options')
  })

  test('the caller may choose version, limits and system', async () => {
    expect(
      await sent({
        anthropic_version: 'vertex-2099',
        max_completion_tokens: 7,
        system: 'mine',
        messages: [{ role: 'system', content: 'not this' }, ...messages],
        anthropic_beta: ['b-1'],
        stop: 'END',
      }),
    ).toMatchObject({
      anthropic_version: 'vertex-2099',
      max_tokens: 7,
      system: 'mine',
      anthropic_beta: ['b-1'],
      stop_sequences: ['END'],
    })
  })

  test('system texts are joined by a blank line', async () => {
    const { system, messages: turns } = await sent({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'developer', content: [{ type: 'text', text: 'B' }] },
        ...messages,
      ],
    })
    expect(system).toBe('A\n\nB')
    expect(turns).toEqual([{ role: 'user', content: 'hi' }])
  })

  test('tool calls and results; odd ids are replaced on both sides', async () => {
    const id = 'call:odd/1'
    const { messages: turns } = await sent({
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'seven' },
        { role: 'user', content: 'and?' },
      ],
    })
    const sentId = `tool_${new Bun.CryptoHasher('sha256').update(id).digest('base64url')}`
    expect((turns as JsonValue[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: sentId, name: 'f', input: { a: 1 } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: sentId, content: 'seven' },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })

  const tool = { type: 'function', function: { name: 'f', description: ' ' } }
  const converted = { name: 'f', input_schema: { type: 'object', properties: {} } }
  const hosted = { type: 'web_search_20250305', name: 'web_search' }
  test.each([
    ['auto', undefined],
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
  ] as [JsonValue, JsonObject | undefined][])(
    'tools and tool_choice %j',
    async (choice, expected) => {
      const body = await sent({ tools: [tool, hosted], tool_choice: choice })
      expect(body.tools).toEqual([converted, hosted])
      expect(body.tool_choice).toEqual(expected)
    },
  )

  test('extra_body is the last word; what changes the price is said', async () => {
    const extraBody = { thinking: { budget_tokens: 9 }, service_tier: 'priority' }
    const extraHeaders = { 'X-Vertex-AI-LLM-Request-Type': 'shared' }
    const result = await run(
      MODEL,
      { messages, thinking: { type: 'enabled', budget_tokens: 5 } },
      { extraBody, extraHeaders },
    )
    expect(lastBody(cloud)).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 9 },
      service_tier: 'priority',
    })
    expect(result.billingModifiers).toEqual(['x-vertex-ai-llm-request-type', 'service_tier'])
  })
})

describe('refused before any call', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }
  const assistant = (call: JsonObject) => [...messages, { role: 'assistant', tool_calls: [call] }]
  test.each([
    [{ messages: [{ role: 'user', content: [image] }] }, 'messages.0.content.0'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h/a.png' } }] },
        ],
      },
      'messages.0.content.0',
    ],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages'],
    [{ messages: [{ role: 'narrator', content: 'x' }] }, 'messages.0.role'],
    [{ messages: assistant({ id: 'a', type: 'hosted' }) }, 'messages.1.tool_calls.0.type'],
    [{ messages: assistant({ type: 'function' }) }, 'messages.1.tool_calls.0.id'],
    [
      { messages: assistant({ id: 'a', type: 'function', function: {} }) },
      'messages.1.tool_calls.0.function.name',
    ],
    [{ messages: [...messages, { role: 'tool', content: 'x' }] }, 'messages.1.tool_call_id'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ reasoning: 'high' }, 'reasoning'],
  ] as [JsonObject, string][])('%j', async (fields, field) => {
    const error = await sent(fields).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'invalid_request', status: 400 })
    expect((error as Error).message).toStartWith(field)
    expect(cloud.calls).toEqual([])
  })
})

describe('the reply', () => {
  test('ids in the arguments of a call keep every digit', async () => {
    const input = '{"channel":1234567890123456789}'
    const text = `{"content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]}`
    const headers = { 'content-type': 'application/json' }
    cloud.answer = () => new Response(text, { headers })
    expect(bodyOf(await run(MODEL, { messages })).choices).toMatchObject([
      { message: { tool_calls: [{ function: { arguments: input } }] } },
    ])
  })

  test('text, calls and thoughts, each in its place', async () => {
    const { created: _, ...body } = bodyOf(await run(MODEL, { messages }))
    expect(body).toEqual({
      id: 'msg_vrtx_01Hq9',
      object: 'chat.completion',
      model: 'asked',
      provider_model: 'claude-sonnet-4-6',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'I will check the weather in Tromsø — 雪.',
            tool_calls: [
              {
                id: 'toolu_vrtx_01A',
                type: 'function',
                function: { name: 'weather', arguments: '{"city":"Tromsø","unit":"°C"}' },
              },
              {
                id: 'toolu_vrtx_01B',
                type: 'function',
                function: { name: 'clock', arguments: '{}' },
              },
            ],
            provider_metadata: {
              cloud_a_ml: {
                reasoning: {
                  source: 'anthropic_messages',
                  blocks: [
                    {
                      type: 'thinking',
                      thinking: 'The city is known, so look it "up".',
                      signature: 'ErUBCkYIBRgCKkDx+/9w==',
                    },
                    { type: 'redacted_thinking', data: 'EmwKAhgB==' },
                  ],
                },
              },
            },
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: expect.objectContaining({
        prompt_tokens: 540,
        completion_tokens: 97,
        total_tokens: 637,
      }),
    })
    expect(body.usage).toMatchObject({
      prompt_tokens_details: { cached_tokens: 128 },
      provider_usage: reply.usage,
    })
  })

  test('calls of hosted tools are passed on', () => {
    const server_tool_use = { web_search_requests: 5 }
    const usage = usageFromMessages({ input_tokens: 1, output_tokens: 2, server_tool_use })
    expect(usage).toMatchObject({ prompt_tokens: 1, server_tool_use })
  })

  const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r' }
  async function decode(pieces: readonly Uint8Array[]): Promise<StreamEvent[]> {
    async function* source() {
      yield* pieces
    }
    const events: StreamEvent[] = []
    const chunks = chatChunksFromMessages(
      decodeSse(source()),
      call,
      'cloud_a_ml',
      createToolNames(NAMES_OF_64),
    )
    for await (const batch of chunks) events.push(...batch)
    return events
  }

  test('streamed, it says the same, however it is cut', async () => {
    const buffered = gistOf(bodyOf(await run(MODEL, { messages })))
    // Arguments are what the upstream wrote, not what a parser made of them.
    const parsed = (list: JsonObject[]) =>
      list.map((item) => {
        const { name, arguments: text } = item.function as JsonObject
        return { ...item, function: { name, arguments: JSON.parse(String(text)) } }
      })
    const expected = { ...buffered, toolCalls: parsed(buffered.toolCalls) }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(sse.length - 1), { maxLength: 12 }), async (cuts) => {
        const at = [...new Set(cuts)].sort((a, b) => a - b)
        const pieces = [0, ...at].map((from, i) => sse.subarray(from, at[i] ?? sse.length))
        const gist = foldChat(await decode(pieces))
        expect({ ...gist, toolCalls: parsed(gist.toolCalls) }).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
    const through = foldChat(await collectEvents(await run(MODEL, { messages, stream: true })))
    expect({ ...through, toolCalls: parsed(through.toolCalls) }).toEqual(expected)
  })

  test('an error in band ends the stream', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const data = JSON.stringify({ type: 'error', error })
    cloud.answer = () => eventStream(`event: error\ndata: ${data}\n\n`)
    const events = await collectEvents(await run(MODEL, { messages, stream: true }))
    expect(events.map((event) => event.json())).toMatchObject([
      { error: { code: 'overloaded_error', message: 'Overloaded' } },
    ])
  })
})
