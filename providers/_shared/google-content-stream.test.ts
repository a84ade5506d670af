import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import { type ChatGist, foldChat, gistOf } from './fold-chat.fixture.ts'
import { decodeGoogleStream } from './google-content-frames.ts'
import { chatFromGoogle } from './google-content-reply.ts'
import { chatChunksFromGoogle } from './google-content-stream.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'req-1' }
const NAMES = ['text', 'tools', 'safety', 'blocked'] as const

const folder = `${import.meta.dir}/__fixtures__`
const streams = new Map<string, { sse: Buffer; array: Buffer; buffered: ChatGist }>()
for (const name of NAMES) {
  const text = await Bun.file(`${folder}/google-${name}.sse`).text()
  const events = text.split('\r\n\r\n').filter((line) => line !== '')
  const objects = events.map((line) => line.slice('data: '.length))
  streams.set(name, {
    sse: Buffer.from(text),
    array: Buffer.from(`[${objects.join('\n,\r\n')}]`),
    buffered: gistOf(
      chatFromGoogle(await Bun.file(`${folder}/google-${name}.json`).json(), call, names),
    ),
  })
}
function stream(name: (typeof NAMES)[number]) {
  const found = streams.get(name)
  if (found === undefined) throw new Error(`no fixture ${name}`)
  return found
}

async function* pieces(list: Iterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** All events, and the error that ended them. */
async function decode(list: Iterable<Uint8Array | string>) {
  const events: StreamEvent[] = []
  try {
    for await (const batch of chatChunksFromGoogle(decodeGoogleStream(pieces(list)), call, names)) {
      expect(batch).not.toEqual([])
      events.push(...batch)
    }
    return { events, error: undefined }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { events, error }
  }
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length))
}

const sse = (...events: JsonObject[]) => events.map((e) => `data: ${JSON.stringify(e)}\r\n\r\n`)

describe('the stream equals the buffered reply, however it is cut', () => {
  for (const name of NAMES) {
    for (const framing of ['sse', 'array'] as const) {
      test(`${name}, ${framing}`, async () => {
        const bytes = stream(name)[framing]
        const { buffered } = stream(name)
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
            const { events, error } = await decode(cutAt(bytes, cuts))
            expect(error).toBeUndefined()
            expect(foldChat(events)).toEqual(buffered)
          }),
          { numRuns: 300 },
        )
        const single = await decode([...bytes].map((byte) => Buffer.from([byte])))
        expect(foldChat(single.events)).toEqual(buffered)
      })
    }
  }

  test('the fixtures say different things', () => {
    expect(NAMES.map((name) => stream(name).buffered.finishReason)).toEqual([
      'stop',
      'tool_calls',
      'content_filter',
      'content_filter',
    ])
    expect(stream('text').buffered.reasoning).toContain('downhill')
    expect(stream('tools').buffered.toolCalls).toHaveLength(2)
  })

  test.each(['\n\n', '\r\r'])('events that end with %j', async (end) => {
    const text = stream('text').sse.toString().replaceAll('\r\n\r\n', end)
    expect(foldChat((await decode([text])).events)).toEqual(stream('text').buffered)
  })
})

describe('a stream that is cut short is an error, never [DONE]', () => {
  for (const framing of ['sse', 'array'] as const) {
    test(`${framing}, at every byte`, async () => {
      // One of them ends before its counters come; it is below.
      for (const name of NAMES.filter((other) => other !== 'safety')) {
        const bytes = stream(name)[framing]
        // What ends an SSE event belongs to it; of the array, only its bracket follows the last object.
        const whole = framing === 'sse' ? bytes.length - 2 : bytes.length - 1
        for (let length = 0; length < whole; length++) {
          const { events, error } = await decode([bytes.subarray(0, length)])
          const done = events.some(({ data }) => data === '[DONE]')
          if (error?.code !== 'upstream_transport' || done) {
            throw new Error(`${name} cut at ${length}: ${error?.message}, ${events.length} events`)
          }
        }
      }
    })
  }

  test('a complete stream without counters has no usage', async () => {
    const text = stream('safety').sse.toString()
    const { events, error } = await decode([text.slice(0, text.lastIndexOf('data:'))])
    expect(error).toBeUndefined()
    expect(foldChat(events)).toEqual({ ...stream('safety').buffered, usage: undefined })
  })

  test('the usage so far precedes the error', async () => {
    const text = stream('text').sse.toString()
    const { events, error } = await decode([text.slice(0, text.lastIndexOf('data:'))])
    expect(error?.message).toBe('premature end: no finishReason')
    expect(events.at(-1)?.json()).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 31, completion_tokens: 2 },
    })
  })
})

describe('events', () => {
  test('roles, thoughts, calls, the end: as chat completions', async () => {
    const { events } = await decode([stream('tools').sse])
    const chunks = events.slice(0, -1).map((event) => event.json() as JsonObject)
    const head = { id: 'id-tools-1', object: 'chat.completion.chunk', model: 'asked' }
    for (const chunk of chunks) expect(chunk).toMatchObject(head)
    expect(chunks[0]?.provider_model).toBe('gemini-3.5-flash')
    const delta = (value: JsonObject) => [{ index: 0, delta: value, finish_reason: null }]
    expect(chunks.map(({ choices }) => choices)).toEqual([
      delta({ role: 'assistant' }),
      delta({
        provider_metadata: {
          cloud_a_ml: {
            reasoning: {
              source: 'google_content_stream',
              blocks: [{ type: 'thought', text: 'Two look-ups are needed.' }],
            },
          },
        },
      }),
      delta({ extra_content: { google: { thought_signature: 'CrsBAf+/' } } }),
      delta({
        tool_calls: [
          {
            index: 0,
            id: 'fc-7Yw',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Oslo","unit":"°C"}' },
            thought_signature: 'CpQBAbeVLwXy+/==',
            extra_content: { google: { thought_signature: 'CpQBAbeVLwXy+/==' } },
          },
        ],
      }),
      delta({
        tool_calls: [
          {
            index: 1,
            id: 'fc-8Zx',
            type: 'function',
            function: { name: 'clock', arguments: '{}' },
          },
        ],
      }),
      [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
    ])
    expect(chunks.map(({ usage }) => usage === undefined)).toEqual([
      ...[true, true, true, true, true],
      false,
    ])
  })

  test('searches and the tier are in the usage, from any response', async () => {
    const { events } = await decode(
      sse(
        {
          responseId: 'r',
          modelVersion: 'gemini-3-flash',
          candidates: [
            {
              content: { parts: [{ text: 'a' }] },
              groundingMetadata: { webSearchQueries: ['x', 'y'] },
            },
          ],
        },
        {
          candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
          usageMetadata: {
            ...{ promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
            trafficType: 'ON_DEMAND_FLEX',
          },
        },
      ),
    )
    expect(events.at(-2)?.json()).toMatchObject({
      usage: { server_tool_use: { grounding: 1, web_search: 2 }, service_tier: 'flex' },
    })
  })

  test('a finished stream with its counters does not wait for the connection', async () => {
    let open = true
    async function* slow() {
      yield stream('text').sse
      await Bun.sleep(20)
      open = false
    }
    for await (const batch of chatChunksFromGoogle(decodeGoogleStream(slow()), call, names)) {
      if (batch.at(-1)?.data === '[DONE]') expect(open).toBe(true)
    }
    expect(open).toBe(false)
  })

  test.each([
    ['MALFORMED_FUNCTION_CALL', [{ functionCall: { name: 'weather', args: {} } }]],
    ['UNEXPECTED_TOOL_CALL', [{ text: 'Let me' }]],
    ['OTHER', []],
    ['NO_IMAGE', [{ text: 'Here it is.' }]],
  ] as [string, JsonObject[]][])(
    'a model that fails with %s is an error event, after what was counted',
    async (finishReason, parts) => {
      const { events } = await decode(
        sse(
          { candidates: [{ content: { parts } }] },
          { candidates: [{ finishReason, finishMessage: 'It went wrong.' }] },
          { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
        ),
      )
      const chunks = events.map((event) => event.json() as JsonObject)
      expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 5 } })
      expect(chunks.at(-1)?.error).toMatchObject({
        code: finishReason,
        message: `the model ended its answer with ${finishReason}: It went wrong.`,
      })
      expect(JSON.stringify(chunks)).not.toContain('tool_calls')
    },
  )

  test('an in-band error is an error event after the usage, and ends the stream', async () => {
    const error = { code: 429, message: 'Quota, Bearer abcdefghijk', status: 'RESOURCE_EXHAUSTED' }
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 }
    const candidates = [{ content: { parts: [{ text: 'a' }] } }]
    const list = [{ candidates, usageMetadata }, { error }, { candidates }]
    for (const wire of [sse(...list), [JSON.stringify(list)]]) {
      const { events, error: thrown } = await decode(wire)
      expect(thrown).toBeUndefined()
      expect(events.map((event) => (event.json() as JsonObject).choices)).toMatchObject([
        [{ delta: { role: 'assistant' } }],
        [{ delta: { content: 'a' } }],
        [],
        undefined as never,
      ])
      expect(events.at(-1)?.json()).toEqual({
        error: {
          message: 'Quota, [redacted]',
          type: 'upstream_error',
          gateway_code: 'upstream_transport',
          code: 'RESOURCE_EXHAUSTED',
          param: null,
          request_id: 'req-1',
        },
      })
    }
  })

  test.each([
    ['nothing', [''], 'premature end: no finishReason'],
    ['an empty array', ['[]'], 'premature end: no finishReason'],
    ['spaces', [' \n', '\r\n '], 'premature end: no finishReason'],
    ['text in an array', ['["a"]'], 'malformed event: the array holds data outside'],
    ['text after an array', ['[] x'], 'malformed event: the array holds data outside'],
    ['an array in an array', ['[[{}]]'], 'malformed event: the array holds data outside'],
    ['an event that is not JSON', ['data: {"a\n\n'], 'malformed event: the data is not JSON'],
    [
      'an event that is a list',
      ['data: [1]\n\n'],
      'malformed event: the data is not a JSON object',
    ],
    ['an object that is not JSON', ['[{"a" 1}]'], 'malformed event: the data is not JSON'],
    ['invalid candidates', sse({ candidates: {} }), 'candidates is not an array'],
    ['invalid parts', sse({ candidates: [{ content: { parts: {} } }] }), 'parts is not'],
    ['invalid UTF-8 in an array', ['[', Buffer.from([0x7b, 0x22, 0xff])], 'invalid UTF-8'],
    ['cut UTF-8 in an array', ['[', Buffer.from([0x7b, 0x22, 0xe6])], 'invalid UTF-8'],
    ['usage only', sse({ usageMetadata: { promptTokenCount: 1 } }), 'premature end'],
  ])('%s', async (_, wire, message) => {
    const { events, error } = await decode(wire)
    expect(error?.message).toContain(message)
    expect(error?.code).toBe('upstream_transport')
    expect(events.some(({ data }) => data === '[DONE]')).toBe(false)
  })

  test('events before a malformed one are passed on, also in the same chunk', async () => {
    const good = sse({ candidates: [{ content: { parts: [{ text: 'a' }] } }] })
    const { events, error } = await decode([`${good.join('')}data: [1]\n\n`])
    expect(error?.message).toContain('malformed event')
    expect(events.map((event) => (event.json() as JsonObject).choices)).toMatchObject([
      [{ delta: { role: 'assistant' } }],
      [{ delta: { content: 'a' } }],
    ])
  })

  test('an in-band error ends the stream at once', async () => {
    let released = false
    async function* source() {
      try {
        yield Buffer.from(sse({ error: { code: 500, message: 'x', status: 'INTERNAL' } }).join(''))
        await new Promise(() => {})
      } finally {
        released = true
      }
    }
    for await (const _ of chatChunksFromGoogle(decodeGoogleStream(source()), call, names));
    expect(released).toBe(true)
  })

  test('returning early cancels the source', async () => {
    for (const framing of ['sse', 'array'] as const) {
      let released = false
      async function* source() {
        try {
          for (const piece of cutAt(stream('text')[framing], [700])) yield piece
          await new Promise(() => {})
        } finally {
          released = true
        }
      }
      for await (const _ of chatChunksFromGoogle(decodeGoogleStream(source()), call, names)) break
      expect(released).toBe(true)
    }
  })
})
