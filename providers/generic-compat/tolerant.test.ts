/** Replies of another kind or with missing parts, and what callers get. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { bytes, collectEvents, json, providerCall } from 'model-gateway/testing'
import { responsesDialect } from 'model-gateway/wire'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench } = await setUpCompat()
const route = bench.bind()

type Family = 'chat_completions' | 'responses' | 'embeddings' | 'rerank'

async function ask(family: Family, body: JsonObject) {
  const execute = route.execute[family]
  if (execute === undefined) throw new Error(`no executor for ${family}`)
  const call = { model: 'asked', messages: [], input: 'x', ...body }
  return await execute(providerCall(call, family === 'responses' ? responsesDialect : undefined))
}

async function buffered(family: Family, body: JsonObject = {}) {
  const result = await ask(family, body)
  if (result.kind !== 'buffered') throw new Error('not buffered')
  return result
}

async function streamed(family: Family) {
  const events = await collectEvents(await ask(family, { stream: true }))
  return events.map((event) =>
    event.data === '[DONE]' ? event.data : (event.json() as JsonObject),
  )
}

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
const chunks = [chunk({ role: 'assistant', content: 'hi' }), chunk({}, 'stop', { usage })]
const sse = `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`
const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage,
}
const response = {
  ...{ id: 'r', object: 'response', created_at: 1, model: 'up', status: 'completed' },
  output: [
    {
      ...{ id: 'm', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    },
  ],
  ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true },
  usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
}

describe('a stream is detected by its first bytes', () => {
  test.each([
    'text/plain',
    'application/octet-stream',
    'application/x-ndjson',
    'application/json',
    '',
  ])('that states the type %j', async (type) => {
    for (const body of [
      sse,
      `\ufeff${sse}`,
      `\r\n\n: hello\n\n${sse}`,
      sse.replaceAll('\n', '\r\n'),
    ]) {
      upstream.script(bytes(body, type))
      expect(await streamed('chat_completions')).toEqual([...chunks, '[DONE]'])
    }
  })

  test('cut anywhere', async () => {
    const whole = Buffer.from(`\ufeff\n${sse}`)
    for (let pieceBytes = 1; pieceBytes < 9; pieceBytes++) {
      upstream.script(async (x) => {
        await x.begin(200, { 'content-type': 'text/plain' })
        for (let at = 0; at < whole.length; at += pieceBytes) {
          await x.write(whole.subarray(at, at + pieceBytes))
        }
        await x.end()
      })
      expect(await streamed('chat_completions')).toEqual([...chunks, '[DONE]'])
    }
  })

  test.each([
    ['<html>', 'text/html'],
    ['Service Unavailable', 'text/plain'],
    ['datum', 'text/plain'],
    ['', 'text/plain'],
    ['  ', 'application/json'],
  ])('and %j as %s is none', async (body, type) => {
    upstream.script(bytes(body, type))
    await expect(ask('chat_completions', { stream: true })).rejects.toMatchObject({
      code: 'upstream_transport',
      message: `the upstream answered a stream request with ${type}`,
    })
  })
})

describe('a whole reply to a stream request', () => {
  test.each(['application/json', 'text/event-stream', ''])('becomes events: %j', async (type) => {
    upstream.script(bytes(JSON.stringify(completion), type))
    const told = await streamed('chat_completions')
    expect(told.at(-1)).toBe('[DONE]')
    expect(told).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: 'hi' } }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage },
      '[DONE]',
    ])
    upstream.script(bytes(` ${JSON.stringify(response, null, 2)}`, type))
    const events = (await streamed('responses')) as JsonObject[]
    expect(events.map((event) => event.type ?? event)).toEqual([
      ...['response.created', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.done', 'response.content_part.done'],
      ...['response.output_item.done', 'response.completed', '[DONE]'],
    ])
    expect(events.at(-2)).toMatchObject({ response })
  })

  test.each(['incomplete', 'failed', 'cancelled'])('ends with its status: %s', async (status) => {
    upstream.script(json({ ...response, status }))
    const events = (await streamed('responses')) as JsonObject[]
    expect(events.at(-2)).toMatchObject({ type: `response.${status}`, response: { status } })
  })

  test('may be events, one per line', async () => {
    upstream.script(
      bytes(chunks.map((each) => JSON.stringify(each)).join('\n'), 'application/x-ndjson'),
    )
    expect(await streamed('chat_completions')).toEqual(chunks)
  })

  test.each([
    [
      'application/json',
      { error: { message: 'No endpoints found', code: 404 } },
      'No endpoints found',
    ],
    ['', { error: { message: 'busy' } }, 'busy'],
    ['application/json', { error: 'busy' }, 'busy'],
    ['application/json', { message: 'Too many requests.' }, 'but says: Too many requests.'],
    ['application/json', { status: 'ok' }, 'choices is not an array'],
  ])('that is an error gives its reason: %s %j', async (type, body, words) => {
    upstream.script(bytes(JSON.stringify(body), type))
    const error = await ask('chat_completions', { stream: true }).catch((reason) => reason)
    expect(error.message).toContain(words)
  })

  test('that is an error becomes an event if the headers are sent', async () => {
    upstream.script(bytes('{"error":{"message":"busy"}}', 'text/event-stream'))
    await expect(streamed('chat_completions')).rejects.toThrow('busy')
  })
})

describe('a stream in answer to a call for a whole reply', () => {
  test.each(['text/event-stream', 'application/json', ''])('is collected: %j', async (type) => {
    upstream.script(bytes(sse, type))
    expect((await buffered('chat_completions')).body).toEqual({ ...completion, model: 'asked' })
    const told = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: response.output[0] as JsonObject,
      },
      { type: 'response.completed', response },
    ]
    upstream.script(bytes(told.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''), type))
    expect((await buffered('responses')).body).toEqual({ ...response, model: 'asked' })
  })

  test('that fails is an error, with its usage', async () => {
    for (const end of ['data: {"choi', 'data: {"error":{"message":"no"}}\n\n', 'data: \xff']) {
      const body = `data: ${JSON.stringify(chunk({}, null, { usage }))}\n\n${end}`
      upstream.script(bytes(Buffer.from(body, 'latin1'), 'text/event-stream'))
      await expect(buffered('chat_completions')).rejects.toMatchObject({
        code: 'upstream_transport',
        usage: { promptTokens: 3, output: 5 },
      })
    }
  })
})

describe('a whole reply has the members that clients need', () => {
  test('a completion', async () => {
    const call = { function: { name: 'f', arguments: { a: 1 } } }
    const bare = {
      big: 1,
      choices: [
        { message: { content: 'hi', tool_calls: {} } },
        { message: { tool_calls: [call] } },
        {},
      ],
    }
    upstream.script(
      bytes(JSON.stringify(bare).replace('"big":1', '"big":12345678901234567890'), ''),
    )
    const { body, rawBody } = await buffered('chat_completions')
    expect(rawBody).toContain('12345678901234567890')
    const said = { role: 'assistant', content: null }
    const [, second] = body.choices as { message: { tool_calls?: JsonObject[] } }[]
    const id = String(second?.message.tool_calls?.[0]?.id)
    expect(id).toStartWith('call_')
    const tool_calls = [{ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }]
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      choices: [
        { index: 0, finish_reason: 'stop', message: { ...said, content: 'hi', tool_calls: [] } },
        { index: 1, finish_reason: 'tool_calls', message: { ...said, tool_calls } },
        { index: 2, finish_reason: 'stop', message: said },
      ],
    })
  })

  test('a response', async () => {
    const bare = { status: 'canceled', output: [{ type: 'message' }] }
    upstream.script(json(bare))
    const tools = [{ type: 'web_search' }]
    const { body } = await buffered('responses', { tools })
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: expect.any(Number),
      status: 'cancelled',
      output: [
        { id: 'item_0', type: 'message', role: 'assistant', status: 'completed', content: [] },
      ],
      ...{ tools, tool_choice: 'auto', parallel_tool_calls: true },
    })
    upstream.script(json({ id: 'r', status: '', output: null }))
    expect((await buffered('responses')).body).toMatchObject({ status: 'completed', output: [] })
    upstream.script(json({ id: 'r', status: 'queued' }))
    expect((await buffered('responses')).body).toMatchObject({ status: 'queued', output: [] })
  })

  test('embeddings', async () => {
    upstream.script(
      json({
        data: [
          { embedding: [1], index: '0' },
          { embedding: [2], index: 1 },
        ],
      }),
    )
    expect((await buffered('embeddings')).body).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1] },
        { object: 'embedding', index: 1, embedding: [2] },
      ],
    })
  })

  test.each([
    ['chat_completions', completion],
    ['responses', response],
  ] as const)('and stays as it came when it has it all: %s', async (family, reply) => {
    const text = ` ${JSON.stringify(reply)}\n`
    upstream.script(bytes(text, 'application/json'))
    expect((await buffered(family)).rawBody).toBe(text)
  })

  test.each([
    ['chat_completions', {}],
    ['responses', {}],
    ['responses', { error: { message: 'no' } }],
    ['embeddings', {}],
  ] as const)('and invalid replies of %s stay invalid: %j', async (family, body) => {
    upstream.script(json(body))
    const read = buffered(family).then(
      (result) => result.body,
      () => body,
    )
    expect(await read).toEqual(body)
  })
})

describe('an embedding has the requested format', () => {
  const floats = [0.5, -1, 3]
  // Little-endian floats of 32 bits, as the client of OpenAI reads them.
  const base64 = 'AAAAPwAAgL8AAEBA'
  const listOf = (...given: JsonValue[]) => ({
    object: 'list',
    data: given.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'up',
  })

  test.each([
    ['base64', [floats, base64], [base64, base64]],
    ['float', [floats, base64], [floats, floats]],
    [undefined, [base64], [floats]],
    [null, [base64], [floats]],
    // Not floats: they stay as they came.
    ['float', ['AAAA', 'no base64!', ''], ['AAAA', 'no base64!', '']],
    ['base64', [[], ['1']], [[], ['1']]],
    ['ubinary', [[1, 2]], [[1, 2]]],
  ] as [string, JsonValue[], JsonValue[]][])('%p', async (encoding_format, given, wanted) => {
    upstream.script(json(listOf(...given)))
    const { body } = await buffered('embeddings', { encoding_format })
    expect(body).toEqual(listOf(...wanted))
    const sent = upstream.journal.calls[0]?.body as JsonObject
    expect(sent.encoding_format).toBe(encoding_format as never)
  })

  test('and is unchanged if it already has it', async () => {
    for (const [encoding_format, embedding] of [
      ['base64', base64],
      ['float', floats],
    ]) {
      const text = ` ${JSON.stringify(listOf(embedding as JsonValue))}\n`
      upstream.script(bytes(text, 'application/json'))
      expect((await buffered('embeddings', { encoding_format } as JsonObject)).rawBody).toBe(text)
    }
  })

  test('also if the route requests another format', async () => {
    upstream.script(json(listOf(floats)))
    const bound = bench.bind({ extraBody: { encoding_format: 'float' } })
    const call = providerCall({ model: 'asked', input: 'x', encoding_format: 'base64' })
    const result = await bound.execute.embeddings?.(call)
    expect(result).toMatchObject({ body: listOf(base64) })
  })

  test('integers are not converted', async () => {
    upstream.script(json(listOf([1, 2])))
    const asked = { encoding_format: 'base64', output_dtype: 'int8' }
    expect((await buffered('embeddings', asked)).body).toEqual(listOf([1, 2]))
  })

  test('for thousands of embeddings', async () => {
    const many = Array.from({ length: 2048 }, () => Array.from({ length: 256 }, () => 0.5))
    upstream.script(json(listOf(...many)))
    const began = performance.now()
    const { body } = await buffered('embeddings', { encoding_format: 'base64' })
    expect((body.data as JsonValue[]).length).toBe(2048)
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

test('a bare list of ranked documents, as from SGLang, gets the usual format', async () => {
  // https://docs.sglang.io/docs/supported-models/rerank_models
  upstream.script(json([{ score: 0.93, document: 'an apple', index: 1 }]))
  const { body, rawBody = '' } = await buffered('rerank')
  expect(body).toEqual({
    results: [{ score: 0.93, document: 'an apple', index: 1, relevance_score: 0.93 }],
  })
  expect(JSON.parse(rawBody)).toEqual(body)
  upstream.script(json([]))
  expect(buffered('embeddings')).rejects.toThrow('did not answer with a JSON object')
})

describe('usage_chunks', () => {
  const unasked = async (profile: JsonObject, options?: JsonObject) => {
    const bound = bench.bind({ compatibility: { generic_compat: profile } })
    const body = { model: 'asked', messages: [], stream: true, ...options }
    const result = await bound.execute.chat_completions?.(providerCall(body))
    if (result?.kind !== 'stream') throw new Error('not a stream')
    return result.usageUnasked === true
  }

  test('with `asked`, chunks with only usage are sent only to callers that asked', async () => {
    const asked = { usage_chunks: 'asked', supports_stream_usage: true }
    expect(await unasked(asked)).toBe(true)
    expect(await unasked(asked, { stream_options: { include_usage: false } })).toBe(true)
    expect(await unasked(asked, { stream_options: { include_usage: true } })).toBe(false)
    expect(await unasked({ usage_chunks: 'always' })).toBe(false)
    expect(await unasked({})).toBe(false)
  })
})
