import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { GatewayError } from 'model-gateway/plugin'
import type { ChatTraits } from '../../_shared/convert-once.ts'
import { messagesCall } from './call.ts'
import { readMessages } from './request.ts'

const routes = {
  compat: { compatShape: true, jsonSchema: true, reads: new Set(), takesEffort: true },
  other: { compatShape: false, jsonSchema: false, reads: new Set(), takesEffort: true },
} satisfies Record<string, ChatTraits>
type RouteName = keyof typeof routes

const hi = { role: 'user', content: 'hi' }
const minimal = { model: 'm', max_tokens: 64, messages: [hi] }
const tool = { name: 'f', description: 'Does it', input_schema: { type: 'object' } }
const chatTool = {
  type: 'function',
  function: { name: 'f', description: 'Does it', parameters: { type: 'object' } },
}
const search = { type: 'web_search_20250305', name: 'web_search' }
const ephemeral = { type: 'ephemeral' }

function callOver(route: RouteName, members: JsonObject, betas: string | null = null): object {
  const { body, dropped } = messagesCall(
    readMessages({ ...minimal, ...members }, betas),
    routes[route],
  )
  return { ...body, ...(dropped && dropped.length > 0 && { dropped: [...new Set(dropped)] }) }
}

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message
    throw error
  }
  return 'accepted'
}

type Expected = JsonObject | { refused: string; dropped?: undefined }

interface Row {
  readonly row: string
  readonly request: JsonObject
  /** The members of the call that differ from those of the minimal request. */
  readonly compat?: Expected
  readonly other?: Expected
  /** For every route that the row does not name. */
  readonly all?: Expected
}

const user = (content: JsonValue) => ({ messages: [{ role: 'user', content }] })
const assistant = (content: JsonValue) => ({ messages: [hi, { role: 'assistant', content }, hi] })
const call = {
  id: 't1',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
}
const cited = {
  type: 'document',
  title: 'a',
  citations: { enabled: true },
  source: { type: 'url', url: 'https://x/a.pdf' },
}
const use = { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }
const onlyNative = (field: string) => ({ refused: `${field}: the upstream of this model` })

const rows: Row[] = [
  { row: 'the least', request: {}, all: {} },
  {
    row: 'model, stream, temperature, top_p, top_k',
    request: { model: 'x', stream: true, temperature: 0.5, top_p: 0.9, top_k: 3 },
    all: { model: 'x', stream: true, temperature: 0.5, top_p: 0.9, top_k: 3 },
  },
  { row: 'null is absent', request: { temperature: null, system: null, tools: null }, all: {} },
  { row: 'stop_sequences', request: { stop_sequences: ['a', 'b'] }, all: { stop: ['a', 'b'] } },
  {
    row: 'system, a string',
    request: { system: 'Be brief.' },
    all: { messages: [{ role: 'system', content: 'Be brief.' }, hi] },
  },
  {
    row: 'system, blocks',
    request: {
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: '' },
        { type: 'text', text: 'Be kind.', cache_control: ephemeral },
      ],
    },
    all: { messages: [{ role: 'system', content: 'Be brief.\n\nBe kind.' }, hi] },
  },
  {
    row: 'system, cached up to a block in the middle',
    request: {
      system: [
        { type: 'text', text: 'one', cache_control: ephemeral },
        { type: 'text', text: 'two' },
      ],
    },
    all: { messages: [{ role: 'system', content: 'one\n\ntwo' }, hi] },
  },
  {
    row: 'a system message among the others',
    request: { messages: [hi, { role: 'system', content: 'now brief' }, hi] },
    all: { messages: [hi, { role: 'system', content: 'now brief' }, hi] },
  },
  { row: 'user, a string', request: user('hello'), all: user('hello') },
  {
    row: 'user, text blocks',
    request: user([{ type: 'text', text: 'hello', cache_control: ephemeral }]),
    all: user([{ type: 'text', text: 'hello' }]),
  },
  {
    row: 'image, base64 and url',
    request: user([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
    ]),
    all: user([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      { type: 'image_url', image_url: { url: 'https://x/y.png' } },
    ]),
  },
  {
    row: 'image that is not to be scaled',
    request: user([
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
        transformations: { oversized_image: 'error' },
      },
    ]),
    all: user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]),
  },
  {
    row: 'image from the files API',
    request: user([{ type: 'image', source: { type: 'file', file_id: 'f' } }]),
    all: { refused: 'messages.0.content.0.source.type' },
  },
  {
    row: 'document, base64, text and url',
    request: user([
      {
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'größer' } },
      { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
    ]),
    all: user([
      {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
      },
      {
        type: 'file',
        file: { filename: 'document', file_data: 'data:text/plain;base64,Z3LDtsOfZXI=' },
      },
      { type: 'file', file: { filename: 'document', file_url: 'https://x/y.pdf' } },
    ]),
  },
  {
    row: 'document with a context and citations, also in a tool result',
    request: user([
      { type: 'tool_result', tool_use_id: 't1', content: [cited] },
      { type: 'text', text: 'q' },
      { ...cited, context: 'A letter.' },
    ]),
    all: {
      messages: [
        { role: 'tool', tool_call_id: 't1', content: '' },
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a', file_url: 'https://x/a.pdf' } },
            { type: 'text', text: 'q' },
            { type: 'file', file: { filename: 'a', file_url: 'https://x/a.pdf' } },
          ],
        },
      ],
    },
  },
  {
    row: 'document of blocks',
    request: user([{ type: 'document', source: { type: 'content', content: 'x' } }]),
    all: { refused: 'messages.0.content.0.source.type' },
  },
  {
    row: 'tool_result, before the other content of its turn',
    request: user([
      { type: 'text', text: 'and now?' },
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: 'sunny' },
          { type: 'text', text: ', 20°' },
        ],
      },
      { type: 'tool_result', tool_use_id: 't2', content: 'rain' },
      { type: 'tool_result', tool_use_id: 't3' },
    ]),
    all: {
      messages: [
        { role: 'tool', tool_call_id: 't1', content: 'sunny, 20°' },
        { role: 'tool', tool_call_id: 't2', content: 'rain' },
        { role: 'tool', tool_call_id: 't3', content: '' },
        { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
      ],
    },
  },
  {
    row: 'tool_result, is_error',
    request: user([
      {
        type: 'tool_result',
        tool_use_id: 't1',
        is_error: true,
        content: 'no city',
        cache_control: ephemeral,
      },
      { type: 'tool_result', tool_use_id: 't2', is_error: false, content: 'fine' },
    ]),
    all: {
      messages: [
        { role: 'tool', tool_call_id: 't1', content: 'Error: no city' },
        { role: 'tool', tool_call_id: 't2', content: 'fine' },
      ],
    },
  },
  {
    row: 'tool_result, cached up to a text in it',
    request: user([
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: 'sunny, ', cache_control: ephemeral },
          { type: 'text', text: '20°', cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
      },
      {
        type: 'tool_result',
        tool_use_id: 't2',
        content: [{ type: 'text', text: 'rain', cache_control: ephemeral }],
        cache_control: { type: 'ephemeral', ttl: '1h' },
      },
    ]),
    all: {
      messages: [
        { role: 'tool', tool_call_id: 't1', content: 'sunny, 20°' },
        { role: 'tool', tool_call_id: 't2', content: 'rain' },
      ],
    },
  },
  {
    row: 'tool_result with an image',
    request: user([
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: 'a map' },
          { type: 'image', source: { type: 'url', url: 'https://x/m.png' } },
        ],
      },
    ]),
    all: {
      messages: [
        { role: 'tool', tool_call_id: 't1', content: 'a map' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x/m.png' } }] },
      ],
    },
  },
  { row: 'assistant, a string', request: assistant('hello'), all: assistant('hello') },
  {
    row: 'assistant, text and tool_use',
    request: assistant([
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'look.', cache_control: ephemeral },
      { ...use, cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]),
    all: {
      messages: [hi, { role: 'assistant', content: 'Let me look.', tool_calls: [call] }, hi],
    },
  },
  {
    row: 'assistant, tool_use without text',
    request: assistant([use]),
    all: { messages: [hi, { role: 'assistant', content: null, tool_calls: [call] }, hi] },
  },
  {
    row: 'thinking, redacted_thinking',
    request: assistant([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'yes' },
    ]),
    all: assistant('yes'),
  },
  {
    row: 'nothing but thinking',
    request: assistant([{ type: 'thinking', thinking: 'hm', signature: 's' }]),
    all: { messages: [hi, hi] },
  },
  {
    row: 'tools, type absent or custom',
    request: { tools: [tool, { ...tool, type: 'custom', strict: true, cache_control: ephemeral }] },
    all: { tools: [chatTool, { ...chatTool, function: { ...chatTool.function, strict: true } }] },
  },
  {
    row: 'tools with other members',
    request: { tools: [search, { ...tool, defer_loading: true, input_examples: [{ a: 1 }] }] },
    all: onlyNative('tools'),
  },
  {
    row: 'tools with members that other upstreams do without',
    request: { tools: [{ ...tool, eager_input_streaming: true, allowed_callers: ['direct'] }] },
    all: { tools: [chatTool] },
  },
  {
    row: 'server tools',
    request: { tools: [search, { ...tool, cache_control: ephemeral }] },
    all: onlyNative('tools'),
  },
  {
    row: 'tool_choice auto',
    request: { tools: [tool], tool_choice: { type: 'auto' } },
    all: { tools: [chatTool], tool_choice: 'auto' },
  },
  {
    row: 'tool_choice any',
    request: { tools: [tool], tool_choice: { type: 'any' } },
    all: { tools: [chatTool], tool_choice: 'required' },
  },
  {
    row: 'tool_choice tool',
    request: { tools: [tool], tool_choice: { type: 'tool', name: 'f' } },
    all: { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'f' } } },
  },
  {
    row: 'tool_choice none',
    request: { tools: [tool], tool_choice: { type: 'none' } },
    all: { tools: [chatTool], tool_choice: 'none' },
  },
  {
    row: 'disable_parallel_tool_use',
    request: { tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    all: { tools: [chatTool], tool_choice: 'auto', parallel_tool_calls: false },
  },
  {
    row: 'disable_parallel_tool_use without tools',
    request: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    all: { tool_choice: 'auto' },
  },
  { row: 'max_tokens: 0', request: { max_tokens: 0 }, all: { max_tokens: 0 } },
  {
    row: 'disable_parallel_tool_use: false',
    request: { tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: false } },
    all: { tools: [chatTool], tool_choice: 'auto' },
  },
  ...[{ type: 'enabled', budget_tokens: 2048 }, { type: 'adaptive' }, { type: 'disabled' }].map(
    (thinking): Row => ({
      row: `thinking ${thinking.type}`,
      request: { thinking },
      all: {},
    }),
  ),
  {
    row: 'output_config.effort',
    request: { output_config: { effort: 'high' }, thinking: { type: 'adaptive' } },
    all: { reasoning_effort: 'high' },
  },
  {
    row: 'output_config.format',
    request: { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    compat: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'output', schema: { type: 'object' }, strict: true },
      },
    },
    other: { refused: 'output_config.format' },
  },
  {
    row: 'output_config, another member',
    request: { output_config: { task_budget: 1 } },
    all: { dropped: ['output_config.task_budget'] },
  },
  {
    row: 'metadata.user_id',
    request: { metadata: { user_id: 'u1' } },
    compat: { user: 'u1' },
    other: { dropped: ['metadata'] },
  },
  {
    row: 'cache_control of the whole request',
    request: { cache_control: ephemeral },
    all: { dropped: ['cache_control'] },
  },
  ...['service_tier', 'thinking', 'context_management', 'unheard_of'].map(
    (name): Row => ({
      row: name,
      request: { [name]: 'x' },
      all: { dropped: [name] },
    }),
  ),
  ...['container', 'mcp_servers'].map(
    (name): Row => ({
      row: name,
      request: { [name]: 'x' },
      all: { refused: `${name} is not supported by this route` },
    }),
  ),
  {
    row: 'versions and betas in the body',
    request: { anthropic_version: 'v', anthropic_beta: ['b1', 'b1'] },
    all: {},
  },
]

describe.each(Object.keys(routes) as RouteName[])('over a %s route', (route) => {
  test.each(rows.map((row) => [row.row, row] as const))('%s', (_, row) => {
    const expected = row[route] ?? row.all
    if (expected === undefined) throw new Error(`the row says nothing of a ${route} route`)
    const act = () => callOver(route, row.request)
    if (typeof expected.refused === 'string') {
      expect(refusal(act)).toStartWith(expected.refused)
    } else {
      const hints: JsonObject = expected.dropped ? {} : { dropped: undefined }
      expect({ ...act(), ...hints }).toEqual({ ...minimal, ...expected })
    }
  })
})

test('a duplicate tool call id: only the result that failed is marked', () => {
  const use = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'f:0', name: 'f', input: {} }],
  }
  const result = (content: string, more = {}) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'f:0', content, ...more }],
  })
  const messages = [use, result('no', { is_error: true }), use, result('yes')]
  const { body } = messagesCall(readMessages({ ...minimal, messages }, null), routes.compat)
  const results = (body.messages as JsonObject[]).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content)).toEqual(['Error: no', 'yes'])
})

test('betas are sent only to upstreams with this API', () => {
  expect(callOver('compat', {}, ' b2, b1 ,,b3')).toEqual({
    ...minimal,
    dropped: ['anthropic_beta'],
  })
})

describe('what a messages request needs of its route', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x/y.png' } }
  const result = { type: 'tool_result', tool_use_id: 't', content: [image] }
  const cases: [JsonObject, string[], number][] = [
    [{}, [], 0],
    [{ stream: true }, ['stream'], 0],
    [{ tools: [tool, tool] }, ['tools'], 2],
    [{ tools: [search] }, ['tools'], 1],
    [{ tools: [search, tool] }, ['tools'], 2],
    [user([image]), ['vision'], 0],
    [user([result]), ['vision'], 0],
  ]
  test.each(cases)('%j', (members, flags, tools) => {
    const read = readMessages({ ...minimal, ...members }, null)
    expect(read.features).toEqual(flags as typeof read.features)
    expect(read.exposedToolCount).toBe(tools)
  })
})

describe('is refused, with the name of the field', () => {
  const cases: [JsonValue, string][] = [
    [[], 'the request body must be a JSON object'],
    [{ model: 'm', messages: [hi] }, 'max_tokens is required'],
    [{ ...minimal, max_tokens: null }, 'max_tokens is required'],
    [{ ...minimal, max_tokens: 1.5 }, 'max_tokens is required'],
    [{ ...minimal, model: '' }, 'model must be a non-empty string'],
    [{ ...minimal, stream: 'yes' }, 'stream must be true or false'],
    [{ ...minimal, messages: [] }, 'messages must be a non-empty array'],
    [{ ...minimal, messages: ['hi'] }, 'messages.0 must be an object'],
    [{ ...minimal, messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role must be'],
    [{ ...minimal, messages: [{ role: 'user' }] }, 'messages.0.content must be a string or'],
    [{ ...minimal, ...user([{ text: 'x' }]) }, 'messages.0.content.0.type must be'],
    [{ ...minimal, ...user([{ type: 'text' }]) }, 'messages.0.content.0.text must be a string'],
    [{ ...minimal, ...user([{ type: 'image' }]) }, 'messages.0.content.0.source must be'],
    [{ ...minimal, ...user([use]) }, "messages.0.content.0: blocks of type 'tool_use'"],
    [{ ...minimal, ...user([{ type: 'tool_result' }]) }, 'messages.0.content.0.tool_use_id must'],
    [{ ...minimal, ...assistant([{ ...use, id: '' }]) }, 'messages.1.content.0.id must be'],
    [{ ...minimal, ...assistant([{ ...use, input: 'x' }]) }, 'messages.1.content.0.input must be'],
    [{ ...minimal, system: [{ type: 'image' }] }, "system.0: blocks of type 'image'"],
    [{ ...minimal, tools: {} }, 'tools must be an array'],
    [{ ...minimal, tools: [{ name: 'f' }] }, 'tools.0.input_schema must be an object'],
    [{ ...minimal, tools: [{ input_schema: {} }] }, 'tools.0.name must be a non-empty string'],
    [{ ...minimal, tool_choice: 'auto' }, 'tool_choice must be an object'],
    [{ ...minimal, tool_choice: { type: 'required' } }, 'tool_choice.type must be'],
  ]
  test.each(cases)('%j', (body, message) => {
    expect(refusal(() => messagesCall(readMessages(body, null), routes.compat))).toStartWith(
      message,
    )
  })
})

test('a thread is refused with an error code that makes clients send the whole conversation', () => {
  for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
    const read = () => readMessages({ ...minimal, thread }, null)
    expect(refusal(read)).toStartWith('thread: ')
    expect(read).toThrow(
      expect.objectContaining({
        details: { details: { error_code: 'thread_unsupported_request' } },
      }) as Error,
    )
  }
  expect(callOver('compat', { thread: null })).toEqual(minimal)
})

test('a member named __proto__ is a member like any other', () => {
  const body = JSON.parse(`{"__proto__":{"service_tier":"x"},"model":"m","max_tokens":1,
    "messages":[{"role":"user","content":"hi"}]}`) as JsonValue
  const { dropped } = messagesCall(readMessages(body, null), routes.compat)
  expect(dropped).toEqual(['__proto__'])
})

test('the request is not modified', () => {
  const body = { ...minimal, system: 's', tools: [tool], metadata: { user_id: 'u' } }
  const before = structuredClone(body)
  for (const route of Object.values(routes)) messagesCall(readMessages(body, null), route)
  expect(body).toEqual(before)
})

test('unsupported members are reported, or refused by the route', () => {
  const request = {
    cache_control: ephemeral,
    thinking: { type: 'adaptive' },
    context_management: { edits: [] },
    ...user([{ type: 'text', text: 'hi', cache_control: ephemeral }]),
    tools: [search, tool],
  }
  const { body, dropped } = messagesCall(readMessages({ ...minimal, ...request }, 'b1'), {
    ...routes.compat,
    unsupported: 'drop',
  })
  expect(body.tools).toEqual([chatTool])
  expect(new Set(dropped)).toEqual(
    new Set(['tools', 'cache_control', 'thinking', 'context_management', 'anthropic_beta']),
  )
  const strict = { ...routes.compat, unsupported: 'reject' } as const
  const read = readMessages({ ...minimal, thinking: { type: 'adaptive' } }, null)
  expect(refusal(() => messagesCall(read, strict))).toContain('unsupported_params: reject')
})

test('a route that supports cache marks gets them at their places', () => {
  const [five, hour] = [ephemeral, { type: 'ephemeral', ttl: '1h' }]
  const text = (text: string, mark?: JsonObject) => ({
    type: 'text',
    text,
    ...(mark && { cache_control: mark }),
  })
  const request = {
    system: [text('a'), text('b', hour), text('c')],
    tools: [tool, { ...tool, name: 'g', cache_control: five }],
    messages: [
      { role: 'user', content: [text('d', five), text('e')] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'f', input: {}, cache_control: five }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: 'no',
            is_error: true,
            cache_control: five,
          },
        ],
      },
    ],
  }
  const route = { ...routes.other, reads: new Set(['cache_control']) }
  const { body, dropped } = messagesCall(readMessages({ ...minimal, ...request }, null), route)
  expect(dropped).toEqual([])
  expect(body.tools).toMatchObject([
    { function: { name: 'f' } },
    { function: { name: 'g' }, cache_control: five },
  ])
  expect(body.messages).toEqual([
    { role: 'system', content: 'a\n\nb', cache_control: hour },
    { role: 'system', content: 'c' },
    { role: 'user', content: [text('d', five), text('e')] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 't',
          type: 'function',
          function: { name: 'f', arguments: '{}' },
          cache_control: five,
        },
      ],
    },
    { role: 'tool', tool_call_id: 't', content: 'Error: no', cache_control: five },
  ])
})

test('a route that supports more of tools and thinking gets it', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x/m.png' } }
  const request = {
    messages: [
      hi,
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'A map?', signature: 's' }, use],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            is_error: true,
            content: [{ type: 'text', text: 'half a map' }, image],
          },
        ],
      },
    ],
  }
  const reads = new Set(['reasoning_content', 'tool_images', 'is_error'])
  const route = { ...routes.other, reads }
  const { body } = messagesCall(readMessages({ ...minimal, ...request }, null), route)
  expect(body.messages).toEqual([
    hi,
    { role: 'assistant', content: null, reasoning_content: 'A map?', tool_calls: [call] },
    {
      role: 'tool',
      tool_call_id: 't1',
      content: [
        { type: 'text', text: 'half a map' },
        { type: 'image_url', image_url: { url: 'https://x/m.png' } },
      ],
      is_error: true,
    },
  ])
})

test('hosted tool results of earlier turns are dropped and reported', () => {
  const blocks = [
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'unheard_of', x: 1 },
    { type: 'text', text: 'Found.' },
  ]
  expect(callOver('compat', assistant(blocks))).toEqual({
    ...minimal,
    ...assistant('Found.'),
    dropped: [
      'messages[].content[].server_tool_use',
      'messages[].content[].web_search_tool_result',
      'messages[].content[].unheard_of',
    ],
  })
})

test('search results and summaries become text; a vendor-specific line is dropped', () => {
  const found = {
    type: 'search_result',
    title: 'Rivers',
    source: 'https://x',
    content: [{ type: 'text', text: 'They run to the sea.' }],
  }
  const billing = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1;' }
  const request = {
    system: [billing, { type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'assistant', content: [{ type: 'compaction', content: 'So far.' }] },
      { role: 'user', content: [found] },
    ],
  }
  expect(callOver('compat', request)).toMatchObject({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'So far.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Rivers\nhttps://x' },
          { type: 'text', text: 'They run to the sea.' },
        ],
      },
    ],
  })
})
