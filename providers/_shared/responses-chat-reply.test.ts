/** Replies of the responses API as chat completions, whole and streamed: what they say is the same. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { chatDialect, decodeSse, responsesDialect, type StreamEvent } from 'model-gateway/wire'
import { chatFromResponse } from './responses-chat-reply.ts'
import { chatChunksFromResponses } from './responses-chat-stream.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'req-1' }
const names = createToolNames(NAMES_OF_64)
const context = { providerType: 'generic_compat', names, billingModifiers: [] }

const responseOf = (output: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_790_000_000,
  status: 'completed',
  model: 'gpt-5.5-2026-04-23',
  output,
  ...more,
})
const message = (content: JsonObject[], more: JsonObject = {}) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content,
  ...more,
})
const outputText = (text: string, more: JsonObject = {}) => ({
  type: 'output_text',
  text,
  annotations: [],
  ...more,
})
const functionCall = (call_id: string, written = '{"a":1}') => ({
  id: `fc_${call_id}`,
  type: 'function_call',
  status: 'completed',
  call_id,
  name: 'f',
  arguments: written,
})
const thought = (id: string, ...texts: string[]) => ({
  id,
  type: 'reasoning',
  encrypted_content: `gAAA${id}`,
  summary: texts.map((text) => ({ type: 'summary_text', text })),
})

async function chunksOf(source: AsyncIterable<readonly StreamEvent[]>): Promise<StreamEvent[]> {
  const chunks: StreamEvent[] = []
  for await (const batch of chatChunksFromResponses(source, call, context)) chunks.push(...batch)
  return chunks
}

async function* once(events: readonly StreamEvent[]) {
  yield events
}

/** What a chat says, whether it came whole or in chunks. */
function gist(chat: JsonObject): JsonObject {
  const [choice] = chat.choices as [JsonObject]
  const {
    refusal,
    content,
    provider_metadata,
    tool_calls = [],
    ...said
  } = choice.message as JsonObject
  const { id, model, provider_model, usage = null, service_tier = null } = chat
  return {
    ...{ id, model, provider_model, usage, service_tier },
    finish: choice.finish_reason,
    logprobs: choice.logprobs ?? null,
    content: content || null,
    refusal: refusal || null,
    metadata: JSON.stringify(provider_metadata ?? null).replace('_responses_stream', '_responses'),
    // Of a stream they have a place.
    tool_calls: (tool_calls as JsonObject[]).map(({ index: _, ...called }) => called),
    ...said,
  }
}

async function streamed(source: AsyncIterable<readonly StreamEvent[]>): Promise<JsonObject> {
  return gist(chatDialect.streaming.collect(await chunksOf(source)))
}

/** The gist of a response that came whole, which is the same as of its stream. */
async function both(response: JsonObject): Promise<JsonObject> {
  const whole = gist(chatFromResponse(response, call, context))
  const events = responsesDialect.streaming.tell(response)
  expect(await streamed(once(events))).toEqual(whole)
  // A stream that tells of nothing but its end.
  expect(await streamed(once(events.slice(-2)))).toEqual(whole)
  return whole
}

describe('the content of a response', () => {
  test('texts of several messages are joined, with their sources', async () => {
    const source = { url: 'https://a', title: 'A', start_index: 0, end_index: 2 }
    const cited = { annotations: [{ type: 'url_citation', ...source }] }
    const said = await both(
      responseOf([
        message([outputText('Looking. '), outputText('Still.')], { phase: 'commentary' }),
        message([outputText('Done.', cited)], { id: 'msg_2', phase: 'final_answer' }),
      ]),
    )
    expect(said).toMatchObject({
      id: 'resp_1',
      model: 'asked',
      provider_model: 'gpt-5.5-2026-04-23',
      content: 'Looking. Still.\n\nDone.',
      annotations: [
        { type: 'url_citation', url_citation: { ...source, start_index: 17, end_index: 19 } },
      ],
      finish: 'stop',
    })
    expect(said.metadata).toContain('"phase":"final_answer"')
  })

  test('calls of functions and custom tools', async () => {
    const custom = { id: 'ct_1', type: 'custom_tool_call', call_id: 'b', name: 'c', input: 'SQL' }
    expect(
      await both(responseOf([functionCall('a'), custom, functionCall('d', '')])),
    ).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        { id: 'b', type: 'custom', custom: { name: 'c', input: 'SQL' } },
        { id: 'd', type: 'function', function: { name: 'f', arguments: '{}' } },
      ],
      finish: 'tool_calls',
    })
  })

  test('a refusal', async () => {
    const refusal = message([{ type: 'refusal', refusal: 'I cannot.' }])
    expect(await both(responseOf([refusal]))).toMatchObject({
      content: null,
      refusal: 'I cannot.',
      finish: 'stop',
    })
  })

  test('thoughts are readable text, and items to send again', async () => {
    const said = await both(
      responseOf([
        thought('rs_1', 'One.', 'Two.'),
        message([outputText('Wait.')]),
        thought('rs_2'),
        functionCall('a'),
        thought('rs_3', 'Three.'),
      ]),
    )
    expect(said.reasoning).toBe('One.\n\nTwo.\n\nThree.')
    expect(JSON.parse(said.metadata as string)).toEqual({
      generic_compat: {
        reasoning: {
          source: 'openai_responses',
          blocks: [
            { ...thought('rs_1', 'One.', 'Two.'), before: 'message' },
            { ...thought('rs_2'), before: 'a' },
            thought('rs_3', 'Three.'),
          ],
        },
      },
    })
  })

  test('thoughts of a model that shows them', async () => {
    const shown = { type: 'reasoning', id: 'rs_1', summary: [] }
    const content = [{ type: 'reasoning_text', text: 'Hm.' }]
    const said = await both(responseOf([{ ...shown, content }, message([outputText('a')])]))
    expect(said.reasoning).toBe('Hm.')
  })

  test.each<[JsonObject, string]>([
    [{ incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    [{ incomplete_details: { reason: 'steered' } }, 'length'],
  ])('an end before the end: %j', async (more, finish) => {
    const response = responseOf([functionCall('a', '{"a":')], { status: 'incomplete', ...more })
    expect((await both(response)).finish).toBe(finish)
  })

  test('counters, the tier, log probabilities', async () => {
    const logprobs = [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }]
    const usage = {
      input_tokens: 31,
      input_tokens_details: { cached_tokens: 16, cache_write_tokens: 2 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 43,
      cost: 0.5,
    }
    const response = responseOf([message([outputText('a', { logprobs })])], {
      usage,
      service_tier: 'priority',
    })
    expect(await both(response)).toMatchObject({
      usage: {
        prompt_tokens: 31,
        completion_tokens: 12,
        total_tokens: 43,
        prompt_tokens_details: { cached_tokens: 16, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
        cost: 0.5,
        provider_usage: usage,
      },
      service_tier: 'priority',
    })
    const [choice] = chatFromResponse(response, call, context).choices as [JsonObject]
    expect(choice.logprobs).toEqual({ content: logprobs, refusal: null })
  })

  test('nothing', async () => {
    expect(await both(responseOf([]))).toMatchObject({ content: null, finish: 'stop' })
    const [choice] = chatFromResponse(responseOf([]), call, context).choices as [JsonObject]
    expect(choice.message).toEqual({ role: 'assistant', content: '', refusal: null })
  })
})

describe('failures', () => {
  const usage = { input_tokens: 5, output_tokens: 1, total_tokens: 6 }
  const failed = (code: string) =>
    responseOf([], { status: 'failed', error: { code, message: 'It broke.' }, usage })

  test.each([
    ['rate_limit_exceeded', 429],
    ['server_error', 502],
    ['invalid_image_url', 400],
    ['bio_policy', 400],
  ])('%s, status %d', (code, status) => {
    let error: unknown
    try {
      chatFromResponse(failed(code), call, { ...context, billingModifiers: ['service_tier'] })
    } catch (caught) {
      error = caught
    }
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({
      code: 'upstream_http_error',
      message: 'It broke.',
      status,
      upstream: { code },
      usage: { promptTokens: 5, output: 1 },
      billingModifiers: ['service_tier'],
    })
  })

  test('in a stream, after its usage', async () => {
    const events = responsesDialect.streaming.tell(failed('server_error')).slice(0, -1)
    const chunks = (await chunksOf(once(events))).map((event) => event.json() as JsonObject)
    expect(chunks.slice(-2)).toMatchObject([
      { choices: [], usage: { prompt_tokens: 5 } },
      { error: { code: 'server_error', message: 'It broke.', request_id: 'req-1' } },
    ])
  })

  test.each<[string, JsonObject]>([
    ['its status is "queued"', responseOf([], { status: 'queued' })],
    ['it is a chat completion', { choices: [{}] }],
  ])('no response: %s', (message, reply) => {
    expect(() => chatFromResponse(reply, call, context)).toThrow(message)
  })

  test('a truncated stream, after all its events', async () => {
    const events = responsesDialect.streaming.tell(responseOf([message([outputText('a')])]))
    const said: StreamEvent[] = []
    const reading = (async () => {
      const source = once(events.slice(0, -2))
      for await (const batch of chatChunksFromResponses(source, call, context)) said.push(...batch)
    })()
    await expect(reading).rejects.toThrow('premature end')
    expect(said.map(({ data }) => data).join()).toContain('"content":"a"')
    expect(said.map(({ data }) => data)).not.toContain('[DONE]')
  })
})

/** Streams as the service writes them. */
const fixtures = join(import.meta.dir, '__fixtures__')
const recorded = readdirSync(fixtures).filter((name) => /^responses-.*\.sse$/.test(name))

describe.each(recorded)('%s', (name) => {
  const bytes = readFileSync(join(fixtures, name))
  async function* pieces(sizes: readonly number[]) {
    let at = 0
    for (let i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length] ?? 1
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const read = (sizes: readonly number[]) => streamed(decodeSse(pieces(sizes)))

  test('its last event and its events have the same content', async () => {
    const text = bytes.toString('utf8')
    const last =
      text
        .trim()
        .split('\n')
        .at(-1)
        ?.replace(/^data: /, '') ?? ''
    const { response } = JSON.parse(last) as { response: JsonObject }
    const { output } = response as { output: JsonValue[] }
    const whole = await read([bytes.length])
    if (output.length > 0) expect(whole).toEqual(gist(chatFromResponse(response, call, context)))
    else expect(whole.content).not.toBeNull()
  })

  test('however it is cut', async () => {
    const whole = await read([bytes.length])
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 }),
        async (sizes) => expect(await read(sizes)).toEqual(whole),
      ),
      { numRuns: 25 },
    )
  })
})

test('events without optional members: no places, ids that change, names that come late', async () => {
  const sse = [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', id: 'x' },
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'y',
      delta: '{"a"',
    },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'z', delta: ':1}' },
    { type: 'response.something.new', output_index: 0 },
    { type: 'response.output_item.done', output_index: 0, item: functionCall('a') },
    { type: 'response.output_item.added', item: message([]) },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hal' },
    { type: 'response.output_item.done', item: message([outputText('Hallo')]) },
    { type: 'response.completed', response: responseOf([]) },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
  async function* bytes() {
    yield Buffer.from(sse)
  }
  expect(await streamed(decodeSse(bytes()))).toMatchObject({
    content: 'Hallo',
    tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"a":1}' } }],
    finish: 'tool_calls',
  })
})
