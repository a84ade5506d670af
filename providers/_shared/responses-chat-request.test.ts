/** Chat calls as requests of the responses API. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { responsesRequest } from './responses-chat-request.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const hi = { role: 'user', content: 'hi' }
const fn = (name: string, more: JsonObject = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' }, ...more },
})

function send(
  fields: JsonObject,
  upstreamModel = 'gpt-5.5',
  unsupportedParams?: 'drop' | 'reject',
) {
  const call = providerCall({ model: 'asked', messages: [hi], ...fields })
  const names = createToolNames(NAMES_OF_64)
  const context = { upstreamModel, unsupportedParams, names, storable: true, memory: 'whole' }
  const body = responsesRequest(call.body, call, context as never)
  return { body, dropped: call.leftOut }
}
const input = (messages: JsonValue[]) => send({ messages }).body.input

const plain = {
  model: 'gpt-5.5',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  include: ['reasoning.encrypted_content'],
  store: false,
}

test('a plain call', () => {
  expect(send({})).toEqual({ body: plain, dropped: [] })
})

describe('members', () => {
  test.each<[JsonObject, JsonObject]>([
    [{ max_completion_tokens: 5 }, { max_output_tokens: 16 }],
    [{ max_tokens: 100 }, { max_output_tokens: 100 }],
    [{ max_tokens: 100, max_completion_tokens: 50 }, { max_output_tokens: 50 }],
    [{ reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
    [
      { reasoning: { effort: 'low', summary: 'auto' } },
      { reasoning: { effort: 'low', summary: 'auto' } },
    ],
    [{ response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } },
      { text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: false } } },
    ],
    [{ verbosity: 'low' }, { text: { verbosity: 'low' } }],
    [{ store: true }, { store: true }],
    [{ service_tier: 'default' }, { service_tier: 'default' }],
    [
      { user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k', safety_identifier: 's' },
      { user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k', safety_identifier: 's' },
    ],
    [
      { logprobs: true, top_logprobs: 2 },
      {
        top_logprobs: 2,
        include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      },
    ],
    [
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
      { stream: true, stream_options: { include_obfuscation: false } },
    ],
    [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  ])('%j: %j', (fields, expected) => {
    expect(send(fields)).toEqual({ body: { ...plain, ...expected }, dropped: [] })
  })

  test.each(['n', 'stop', 'logit_bias', 'frequency_penalty', 'audio', 'web_search_options'])(
    'what would change the answer is refused by name, or dropped by the route: %s',
    (name) => {
      const fields = { [name]: name === 'n' ? 2 : name === 'stop' ? ['x'] : { a: 1 } }
      expect(() => send(fields)).toThrow(`${name} is not supported by this route`)
      expect(send(fields, 'gpt-5.5', 'drop')).toEqual({ body: plain, dropped: [name] })
    },
  )

  test('hints are dropped and reported', () => {
    const fields = { seed: 7, prediction: { type: 'content', content: 'x' }, unheard_of: 1 }
    expect(send(fields)).toEqual({
      body: plain,
      dropped: ['seed', 'prediction', 'unheard_of'],
    })
    expect(send({ reasoning: { effort: 'low', max_tokens: 9 } }).dropped).toEqual([
      'reasoning.max_tokens',
    ])
    expect(() => send({ seed: 7 }, 'gpt-5.5', 'reject')).toThrow('seed')
  })

  test('an effort that is stated twice must be the same', () => {
    const reasoning = { effort: 'high' }
    expect(() => send({ reasoning_effort: 'low', reasoning })).toThrow('contradict')
    expect(send({ reasoning_effort: 'high', reasoning }).body.reasoning).toEqual(reasoning)
  })

  test('a model without reasoning is not asked for it', () => {
    expect(send({}, 'gpt-4.1-mini').body).not.toHaveProperty('include')
    expect(send({}, 'my-deployment').body.include).toEqual(['reasoning.encrypted_content'])
  })
})

describe('tools', () => {
  const parameters = { type: 'object' }
  test('are flat, and keep strict', () => {
    const tools = [
      fn('f', { description: 'd' }),
      fn('g', { strict: true }),
      fn('h', { strict: false }),
    ]
    expect(send({ tools, parallel_tool_calls: false }).body).toEqual({
      ...plain,
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters, strict: false },
        { type: 'function', name: 'g', parameters, strict: true },
        { type: 'function', name: 'h', parameters, strict: false },
      ],
      parallel_tool_calls: false,
    })
  })

  test('that take text', () => {
    const grammar = { syntax: 'lark', definition: 'start: "a"' }
    const custom = { name: 'c', description: 'd', format: { type: 'grammar', grammar } }
    const { body } = send({
      tools: [{ type: 'custom', custom }],
      tool_choice: { type: 'custom', custom: { name: 'c' } },
    })
    expect(body.tools).toEqual([
      { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar', ...grammar } },
    ])
    expect(body.tool_choice).toEqual({ type: 'custom', name: 'c' })
  })

  test.each<[JsonValue, JsonValue]>([
    ['required', 'required'],
    ['none', 'none'],
    [fn('f'), { type: 'function', name: 'f' }],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [fn('f')] } },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    ],
  ])('choice %j: %j', (tool_choice, sent) => {
    expect(send({ tools: [fn('f')], tool_choice }).body.tool_choice).toEqual(sent)
  })

  test('a choice without tools is dropped', () => {
    expect(send({ tools: [], tool_choice: 'none', parallel_tool_calls: false }).body).toEqual(plain)
    expect(() => send({ tool_choice: 'required' })).toThrow('tool_choice')
  })

  test('invalid names are replaced everywhere', () => {
    const name = 'fs.read'
    const { body } = send({
      tools: [fn(name)],
      tool_choice: fn(name),
      messages: [
        hi,
        { role: 'assistant', tool_calls: [{ id: 'a', ...fn(name, { arguments: '{}' }) }] },
        { role: 'tool', tool_call_id: 'a', content: '' },
      ],
    })
    const [tool] = body.tools as JsonObject[]
    expect(tool?.name).toMatch(/^fs_read_[0-9a-f]{12}$/)
    const sent = tool?.name as string
    expect(body.tool_choice).toEqual({ type: 'function', name: sent })
    expect((body.input as JsonObject[])[1]?.name).toBe(sent)
  })

  test('of other kinds are refused by name', () => {
    expect(() => send({ tools: [{ type: 'web_search' }] })).toThrow('tools.0.type')
    expect(send({ tools: [{ type: 'web_search' }] }, 'gpt-5.5', 'drop').dropped).toEqual(['tools'])
  })
})

describe('messages', () => {
  const text = (type: string, text: string) => ({ type, text })
  const said = (role: string, ...content: JsonObject[]) => ({ type: 'message', role, content })

  test('keep their order, instructions too', () => {
    expect(
      input([
        { role: 'system', content: 'a' },
        hi,
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        { role: 'assistant', content: 'c' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'd' },
            { type: 'text', text: 'e' },
          ],
        },
      ]),
    ).toEqual([
      said('system', text('input_text', 'a')),
      said('user', text('input_text', 'hi')),
      said('developer', text('input_text', 'b')),
      said('assistant', text('output_text', 'c')),
      said('user', text('input_text', 'd'), text('input_text', 'e')),
    ])
  })

  test('hold images and files, as links or as data', () => {
    const pdf = 'data:application/pdf;base64,QUJD'
    const [message] = input([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://x/i.png', detail: 'low' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
          { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
          { type: 'file', file: { file_data: pdf, filename: 'My report' } },
          { type: 'file', file: { file_id: 'file_1' } },
          { type: 'file', file: { file_url: 'https://x/a.pdf', filename: 'document' } },
          {
            type: 'document',
            title: 'T',
            source: { type: 'base64', media_type: 'text/plain', data: 'QUJD' },
          },
        ],
      },
    ]) as JsonObject[]
    expect(message?.content).toEqual([
      { type: 'input_image', image_url: 'https://x/i.png', detail: 'low' },
      { type: 'input_image', image_url: 'data:image/png;base64,QUJD', detail: 'auto' },
      { type: 'input_file', file_data: pdf, filename: 'a.pdf' },
      { type: 'input_file', file_data: pdf, filename: 'My report.pdf' },
      { type: 'input_file', file_id: 'file_1' },
      { type: 'input_file', file_url: 'https://x/a.pdf' },
      {
        type: 'input_file',
        file_data: 'data:text/plain;base64,QUJD',
        filename: 'document.txt',
      },
    ])
  })

  test('audio is refused by name', () => {
    const content = [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }]
    expect(() => input([{ role: 'user', content }])).toThrow(
      'messages.0.content.0.type: "input_audio" is not supported',
    )
  })

  test('a refusal stays a refusal', () => {
    const refusal = { type: 'refusal', refusal: 'no' }
    expect(input([hi, { role: 'assistant', content: null, refusal: 'no' }, hi])).toMatchObject([
      {},
      said('assistant', refusal),
      {},
    ])
  })

  test('tool results, with their media', () => {
    const call = (id: string) => ({ id, ...fn('f', { arguments: '{"a":1}' }) })
    const image = { type: 'image_url', image_url: { url: 'https://x/i.png' } }
    expect(
      input([
        hi,
        { role: 'assistant', content: 'Wait.', tool_calls: [call('a'), call('b'), call('c')] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }, image] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'three' }] },
      ]),
    ).toEqual([
      said('user', text('input_text', 'hi')),
      said('assistant', text('output_text', 'Wait.')),
      ...['a', 'b', 'c'].map((call_id) => ({
        type: 'function_call',
        call_id,
        name: 'f',
        arguments: '{"a":1}',
      })),
      { type: 'function_call_output', call_id: 'a', output: 'one' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          text('input_text', 'two'),
          { type: 'input_image', image_url: 'https://x/i.png', detail: 'auto' },
        ],
      },
      { type: 'function_call_output', call_id: 'c', output: 'three' },
    ])
  })

  test('a custom tool, and its result', () => {
    const custom = { name: 'c', input: 'SELECT' }
    expect(
      input([
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom }] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ]),
    ).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'c', input: 'SELECT' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'one' },
    ])
  })

  test('invalid arguments are kept as text', () => {
    const [call] = input([
      { role: 'assistant', tool_calls: [{ id: 'a', ...fn('f', { arguments: '{"a":' }) }] },
      { role: 'tool', tool_call_id: 'a', content: '' },
    ]) as JsonObject[]
    expect(call?.arguments).toBe('{"_raw_arguments":"{\\"a\\":"}')
  })

  test('a call without a result gets one, a result without a call too, and ids that come twice differ', () => {
    const asks = { role: 'assistant', tool_calls: [{ id: 'a', ...fn('f', { arguments: '{}' }) }] }
    const answer = { role: 'tool', tool_call_id: 'a', content: 'x' }
    const items = input([answer, asks, answer, asks]) as JsonObject[]
    expect(items.map(({ type, name = null, output = null }) => [type, name, output])).toEqual([
      ['function_call', 'unknown_tool', null],
      ['function_call_output', null, 'x'],
      ['function_call', 'f', null],
      ['function_call_output', null, 'x'],
      ['function_call', 'f', null],
      ['function_call_output', null, 'The result of this call is not known.'],
    ])
    const ids = items.map(({ call_id }) => call_id)
    expect(new Set(ids).size).toBe(3)
    expect([ids[0], ids[2], ids[4]]).toEqual([ids[1], ids[3], ids[5]])
  })

  test('unsupported members are dropped and reported', () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const { dropped } = send({
      messages: [
        { role: 'user', name: 'n', content: [{ type: 'text', text: 'a', ...mark }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 't' }], audio: { id: 'x' } },
      ],
      tools: [{ ...fn('f'), ...mark }],
    })
    expect(dropped).toEqual([
      'messages[].name',
      'messages[].content[].cache_control',
      'messages[].audio',
      'messages[].content[].thinking',
      'tools[].cache_control',
    ])
  })

  test('an empty conversation is refused', () => {
    for (const content of ['', null, [{ type: 'text', text: '' }]]) {
      expect(() => input([{ role: 'assistant', content }])).toThrow('messages must have')
    }
    expect(() => input([{ role: 'function', content: 'x' }])).toThrow('messages.0.role')
  })
})
