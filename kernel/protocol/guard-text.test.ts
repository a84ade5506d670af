import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../plugin/json.ts'
import { promptTexts, replyTexts } from './guard-text.ts'
import { replyToolCalls } from './guard-tool-calls.ts'

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

test('the text of a reply, its reasoning included', () => {
  const body = {
    model: 'text',
    choices: [
      { message: { role: 'assistant', content: 'said', reasoning: 'thought', refusal: null } },
    ],
  }
  expect(replyTexts(body).segments).toEqual(['said', 'thought'])
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
      'responses, a shell of its own',
      'responses',
      { output: [{ type: 'local_shell_call', action: shell }] },
      { tool: 'local_shell', arguments: JSON.stringify(shell) },
    ],
  ] as const)('%s', (_, family, body, call) => {
    const found = replyToolCalls(family, body as unknown as JsonObject)
    expect(found.calls).toEqual([call])
    expect(found.replace(found.calls)).toEqual(body as unknown as JsonObject)
    const other = { ...call, arguments: '{"input":"other"}' }
    expect(JSON.stringify(found.replace([other]))).toContain('other')
  })
})

test('what a document is about is told to the model too', () => {
  const part = { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }
  const body = { messages: [{ role: 'user', content: [{ ...part, context: 'secret' }] }] }
  const { segments, replace } = promptTexts(body)
  expect(segments).toEqual(['secret'])
  expect(replace(['masked'])).toEqual({
    messages: [{ role: 'user', content: [{ ...part, context: 'masked' }] }],
  })
})
