import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../plugin/json.ts'
import { promptTexts, replyTexts } from './guard-text.ts'
import { chatToolCalls, responsesToolCalls } from './guard-tool-calls.ts'

const toolCallsOf = { chat_completions: chatToolCalls, responses: responsesToolCalls }
const upper = (texts: readonly string[]) => texts.map((text) => text.toUpperCase())

const prompts: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  [
    'chat: strings and parts, tool results included',
    {
      model: 'content',
      messages: [
        { role: 'system', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'u' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'result' },
      ],
    },
    ['be kind', 'look', 'result'],
  ],
  [
    'responses: instructions, input items and outputs of functions',
    {
      instructions: 'rules',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'ask' }] },
        { type: 'function_call_output', call_id: 'c', output: 'done' },
      ],
    },
    ['rules', 'ask', 'done'],
  ],
  [
    'chat: documents of text, their names, and calls that were made',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'notes', file_data: 'data:text/plain;base64,c2VjcmV0' },
            },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,c2VjcmV0' } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"q":"call"}' } }],
        },
      ],
    },
    ['notes', 'secret', '{"q":"call"}'],
  ],
  [
    'chat: arguments that are not a text, but not the schema of a member of this name',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c', function: { name: 'f', arguments: { city: 'oslo', more: [{ a: 'b' }] } } },
            { id: 'd', function: { name: 'f', arguments: null } },
          ],
        },
      ],
      tools: [{ name: { type: 'string' }, arguments: { type: 'object' } }],
    },
    ['{"city":"oslo","more":[{"a":"b"}]}'],
  ],
  [
    'responses: variables of a stored prompt',
    {
      prompt: {
        id: 'p',
        variables: { city: 'paris', more: { type: 'input_text', text: 'words' } },
      },
    },
    ['paris', 'words'],
  ],
  ['responses: input as a string', { input: 'ask' }, ['ask']],
  ['embeddings: a list', { input: ['one', 'two', ''] }, ['one', 'two']],
  ['no text at all', { model: 'm', messages: [] }, []],
]

describe('the text of a prompt', () => {
  test.each(prompts)('%s', (_, body, texts) => {
    const text = promptTexts(body)
    expect(text.segments).toEqual([...texts])
    expect(text.replace(text.segments)).toBe(body)
    const replaced = text.replace(upper(text.segments))
    expect(promptTexts(replaced).segments).toEqual(upper(texts))
    expect(replaced.model).toBe(body.model)
  })
})

test.each(['content', 'input', 'prompt', 'text', 'instructions', 'system', 'output'])(
  'the text of a prompt is under %s',
  (name) => {
    expect(promptTexts({ [name]: 'said', metadata: 'no text' }).segments).toEqual(['said'])
  },
)

test.each(
  [
    ['content', 'text', 'refusal', 'output_text', 'transcript'],
    ['reasoning', 'reasoning_content', 'reasoning_text', 'thinking'],
  ].flat(),
)('the text of a reply is under %s', (name) => {
  const body = { output: [{ [name]: 'said', id: 'no text' }] }
  const text = replyTexts(body)
  expect(text.segments).toEqual(['said'])
  expect(text.replace(['masked'])).toEqual({ output: [{ [name]: 'masked', id: 'no text' }] })
})

test('the text of a reply, its reasoning included', () => {
  const body = {
    model: 'text',
    choices: [
      { message: { role: 'assistant', content: 'said', reasoning: 'thought', refusal: null } },
    ],
  }
  expect(replyTexts(body).segments).toEqual(['said', 'thought'])
})

describe('copies of a replaced text are removed', () => {
  const tokens = [{ token: 'sec' }, { token: 'ret' }]
  const choice = (content: string, logprobs: JsonObject | null) => ({
    index: 0,
    message: { role: 'assistant', content },
    logprobs,
  })

  test('the tokens of a chat reply, of that choice alone', () => {
    const other = choice('fine', { content: [{ token: 'fine' }] })
    const { replace } = replyTexts({ choices: [choice('secret', { content: tokens }), other] })
    expect(replace(['***', 'fine'])).toEqual({ choices: [choice('***', null), other] })
  })

  test('the tokens of a part of a response', () => {
    const body = (text: string, logprobs: JsonObject[]) => ({
      output: [{ type: 'message', content: [{ type: 'output_text', text, logprobs }] }],
    })
    const { replace } = replyTexts(body('secret', tokens))
    expect(replace(['***'])).toEqual(body('***', []))
    expect(replace(['secret'])).toEqual(body('secret', tokens))
  })

  test('the sound of spoken text', () => {
    const body = (transcript: string, data: string) => ({
      choices: [{ message: { content: null, audio: { id: 'a', transcript, data } } }],
    })
    expect(replyTexts(body('secret', 'AAAA')).replace(['***'])).toEqual(body('***', ''))
  })

  test('the tokens of a choice whose call has other arguments', () => {
    const call = (args: string, logprobs: JsonObject | null) => ({
      choices: [
        { message: { tool_calls: [{ function: { name: 'f', arguments: args } }] }, logprobs },
      ],
    })
    const body = call('{"a":"secret"}', { content: tokens })
    const { calls, replace } = chatToolCalls(body)
    expect(replace(calls)).toEqual(body)
    const masked = { tool: 'f', arguments: '{"a":"***"}' }
    expect(replace([masked])).toEqual(call('{"a":"***"}', null))
  })
})

test('the text of a reply: its reasoning in details, but no setting of the same name', () => {
  const details = (text: string) => [
    { type: 'reasoning.summary', summary: text, index: 0 },
    { type: 'reasoning.encrypted', data: 'AAAA', index: 1 },
  ]
  const body = (text: string) => ({
    choices: [{ message: { content: null, reasoning: text, reasoning_details: details(text) } }],
    reasoning: { summary: 'auto' },
  })
  const { segments, replace } = replyTexts(body('secret'))
  expect(segments).toEqual(['secret', 'secret'])
  expect(replace(['***', '***'])).toEqual(body('***'))
})

const shell = { type: 'exec', command: ['rm', '-rf', '/'] }

describe('the tool calls of a reply', () => {
  test.each([
    [
      'chat',
      'chat_completions',
      {
        choices: [
          { message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"a":1}' } }] } },
        ],
      },
      { tool: 'f', arguments: '{"a":1}' },
    ],
    [
      'chat, as functions once were called',
      'chat_completions',
      { choices: [{ message: { function_call: { name: 'f', arguments: '{' } } }] },
      { tool: 'f', arguments: '{' },
    ],
    [
      'chat, a tool that takes text',
      'chat_completions',
      {
        choices: [
          { message: { tool_calls: [{ type: 'custom', custom: { name: 'sh', input: 'ls' } }] } },
        ],
      },
      { tool: 'sh', arguments: '{"input":"ls"}' },
    ],
    [
      'responses',
      'responses',
      { output: [{ type: 'reasoning' }, { type: 'function_call', name: 'f', arguments: '{}' }] },
      { tool: 'f', arguments: '{}' },
    ],
    [
      'responses, a local shell',
      'responses',
      { output: [{ type: 'local_shell_call', action: shell }] },
      { tool: 'local_shell', arguments: JSON.stringify(shell) },
    ],
  ] as const)('%s', (_, family, body, call) => {
    const found = toolCallsOf[family](body as unknown as JsonObject)
    expect(found.calls).toEqual([call])
    expect(found.replace(found.calls)).toEqual(body as unknown as JsonObject)
    const other = { ...call, arguments: '{"input":"other"}' }
    expect(JSON.stringify(found.replace([other]))).toContain('other')
  })
})

test('arguments are judged without escapes that JSON does not need, and keep them otherwise', () => {
  const body = (text: string) => ({ output: [{ type: 'function_call', arguments: text }] })
  const escaped = body('{"n": 1.0, "who":"M\\u00fcller"}')
  const { calls, replace } = responsesToolCalls(escaped)
  expect(calls.map((call) => call.arguments)).toEqual(['{"n": 1.0, "who":"Müller"}'])
  expect(replace(calls)).toEqual(escaped)
  const prompt = promptTexts({ input: escaped.output })
  expect(prompt.segments).toEqual(['{"n": 1.0, "who":"Müller"}'])
  expect(prompt.replace(prompt.segments)).toEqual({ input: escaped.output })
  expect(prompt.replace(['{}'])).toEqual({ input: body('{}').output })
})

test('calls without arguments, or with other than text, are judged and stay as they are', () => {
  const output = [
    { type: 'function_call', name: 'f' },
    { type: 'function_call', name: 'g', arguments: { n: 1 } },
    { type: 'custom_tool_call', name: 'sh' },
    { type: 'shell_call' },
  ]
  const { calls, replace } = responsesToolCalls({ output })
  expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"n":1}', '{"input":""}', '{}'])
  expect(replace(calls)).toEqual({ output })
})

test('replaced arguments go to their calls and change nothing else of a reply', () => {
  const chat = {
    id: 'r',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          tool_calls: [
            { id: 'a', function: { name: 'f', arguments: '{}' } },
            { id: 'b', type: 'custom', custom: { name: 'sh', input: 'ls' } },
          ],
          function_call: { name: 'g', arguments: '{}' },
        },
      },
    ],
  }
  const responses = {
    id: 'r',
    output: [
      { id: 'a', type: 'function_call', name: 'f', arguments: '{}' },
      { id: 'b', type: 'mcp_call', name: 'g', arguments: '{}' },
      { id: 'c', type: 'custom_tool_call', name: 'sh', input: 'ls' },
      { id: 'd', type: 'shell_call', action: { n: 0 } },
      { id: 'e', type: 'apply_patch_call', operation: { n: 0 } },
      { id: 'f', type: 'mcp_approval_request', name: 'h', server_label: 's', arguments: '{}' },
    ],
  }
  const masked = (text: string) =>
    text.replaceAll('"{}"', '"{\\"n\\":1}"').replaceAll('"ls"', '"pwd"').replaceAll('0}', '1}')
  for (const [family, body] of [
    ['chat_completions', chat],
    ['responses', responses],
  ] as const) {
    const { calls, replace } = toolCallsOf[family](body)
    const others = calls.map((call) => ({
      ...call,
      arguments: call.arguments.includes('ls') ? '{"input":"pwd"}' : '{"n":1}',
    }))
    expect(replace(others)).toEqual(JSON.parse(masked(JSON.stringify(body))))
  }
})

test('results of responses API tools are checked, in a prompt and in a reply', () => {
  const items = [
    { type: 'shell_call_output', output: [{ stdout: 'one', stderr: 'two', outcome: {} }] },
    { type: 'code_interpreter_call', outputs: [{ type: 'logs', logs: 'three' }] },
    { type: 'mcp_call', arguments: '{}', output: 'four' },
    { type: 'mcp_call', arguments: '', output: null, error: 'five' },
  ]
  const texts = ['one', 'two', 'three', 'four', 'five']
  expect(promptTexts({ input: items }).segments).toEqual(texts.toSpliced(3, 0, '{}'))
  const { segments, replace } = replyTexts({ output: items })
  expect(segments).toEqual(texts)
  expect(replyTexts(replace(upper(segments))).segments).toEqual(upper(texts))
})

test('calls of responses API tools and their approval reasons are checked in a prompt', () => {
  const input = [
    { type: 'shell_call', action: { commands: ['one', 'two'], timeout_ms: 1 } },
    { type: 'local_shell_call', action: { type: 'exec', command: ['three'], env: {} } },
    { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a', diff: 'four' } },
    { type: 'code_interpreter_call', code: 'five', container_id: 'c' },
    { type: 'web_search_call', action: { type: 'search', query: 'six', queries: ['seven'] } },
    { type: 'mcp_approval_response', approval_request_id: 'i', approve: true, reason: 'eight' },
  ]
  const { segments, replace } = promptTexts({ input })
  expect(segments).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'])
  expect(promptTexts(replace(upper(segments))).segments).toEqual(upper(segments))
})

test('thinking and refusals of earlier turns are checked', () => {
  const messages = [
    { role: 'assistant', content: null, reasoning_content: 'one', refusal: 'two' },
    { role: 'assistant', reasoning: 'three', content: [{ type: 'refusal', refusal: 'four' }] },
  ]
  expect(promptTexts({ messages, reasoning: { effort: 'high' } }).segments).toEqual([
    'one',
    'two',
    'three',
    'four',
  ])
})

test('texts are judged whatever the case of their names: some upstreams take no notice of it', () => {
  const messages = [{ role: 'user', content: 'one', Content: 'two', CONTENT: [{ Text: 'three' }] }]
  const { segments, replace } = promptTexts({ messages, inſtructions: 'four' })
  expect(segments).toEqual(['one', 'two', 'three', 'four'])
  expect(promptTexts(replace(upper(segments))).segments).toEqual(upper(segments))
})

test('the context of a document is checked too', () => {
  const part = { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }
  const body = { messages: [{ role: 'user', content: [{ ...part, context: 'secret' }] }] }
  const { segments, replace } = promptTexts(body)
  expect(segments).toEqual(['secret'])
  expect(replace(['masked'])).toEqual({
    messages: [{ role: 'user', content: [{ ...part, context: 'masked' }] }],
  })
})

test('text documents are checked in any URL spelling; empty ones are not text', () => {
  const textsOf = (file_data: string) => promptTexts({ file: { file_data } }).segments
  expect(textsOf('DATA:TEXT/PLAIN;BASE64,c2VjcmV0')).toEqual(['secret'])
  expect(textsOf('data:text/x-ini;charset=UTF-8;base64,c2VjcmV0')).toEqual(['secret'])
  expect(textsOf('data:text/plain;base64,')).toEqual([])
})

test('text documents are checked at any place', () => {
  const url = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`
  const data = (text: string) => Buffer.from(text).toString('base64')
  const parts = (text: string) => [
    { type: 'image_url', image_url: { url: url(text) } },
    { type: 'input_image', image_url: url(text) },
    { type: 'input_video', input_video: `data:;base64,${data(text)}` },
    { type: 'file', file: { file_data: `data:;base64,${data(text)}`, mime_type: 'text/csv' } },
    { type: 'file', file: { type: 'base64', mime_type: 'text/csv', data: data(text) } },
    { type: 'document', mediaType: 'text/csv', source: { type: 'base64', data: data(text) } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'c2VjcmV0' } },
    { type: 'file', file: { file_data: 'data:;base64,c2VjcmV0', mime_type: 'image/png' } },
  ]
  const { segments, replace } = promptTexts({ messages: [{ content: parts('secret') }] })
  expect(segments).toEqual(Array(6).fill('secret'))
  expect(replace(upper(segments))).toEqual({ messages: [{ content: parts('SECRET') }] })
})

test('documents of text are judged however they are wrapped, and whatever kind of text they are', () => {
  const textsOf = (file_data: string) => promptTexts({ file: { file_data } }).segments
  expect(textsOf('data:text/plain;base64,c2Vj\r\ncmV0\n')).toEqual(['secret'])
  for (const type of ['json', 'ld+json', 'xml', 'x-yaml']) {
    expect(textsOf(`data:application/${type};base64,c2VjcmV0`)).toEqual(['secret'])
  }
})

test('text documents are checked in their charset, and masked ones are in UTF-8', () => {
  const document = (parameters: string, data: string) => ({
    file: { file_data: `data:text/plain${parameters};base64,${data}` },
  })
  const latin = document(';charset=iso-8859-1', 'Z2Vo6Glt')
  expect(promptTexts(latin).segments).toEqual(['gehèim'])
  expect(promptTexts(latin).replace(['***'])).toEqual(document(';charset=utf-8', 'Kioq'))
  for (const parameters of [';charset=us-ascii', ';name="a.txt"', ';charset=unheard-of;x=1']) {
    expect(promptTexts(document(parameters, 'c2VjcmV0')).segments).toEqual(['secret'])
  }
  const wide = Buffer.from('secret', 'utf16le').toString('base64')
  expect(promptTexts(document(';charset=utf-16le', wide)).segments).toEqual(['secret'])
  // A URL with many parameters is recognised as not text at once, without backtracking.
  const started = performance.now()
  expect(promptTexts(document(';charset=a'.repeat(20_000), '!')).segments).toEqual([])
  expect(performance.now() - started).toBeLessThan(500)
})

test('an unchanged document keeps its bytes, including invalid text', () => {
  const body = { file: { file_data: 'data:text/plain;base64,/w==' } }
  const { segments, replace } = promptTexts(body)
  expect(segments).toHaveLength(1)
  expect(replace(segments)).toBe(body)
})

test('input of the model in the messages API', () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'in a document' }
  const body = {
    system: [{ type: 'text', text: 'a system' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', source, title: 'its title', context: 'its context' },
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a result' }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'a thought', signature: 's' },
          { type: 'tool_use', id: 't', name: 'f', input: { city: 'Oslo' } },
        ],
      },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object', title: 'no text' } }],
  }
  const { segments, replace } = promptTexts(body)
  expect(segments).toEqual([
    ...['a system', 'in a document', 'its title', 'its context', 'a result', 'a thought'],
    '{"city":"Oslo"}',
  ])
  const masked = replace(segments.map((text) => text.replace('Oslo', '*').replace(' in ', ' ')))
  expect(JSON.stringify(masked)).toContain('"input":{"city":"*"}')
})
