/** What Converse cannot say. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { unifiedRequest } from './unified-request.ts'

function send(fields: JsonObject) {
  const body = { model: 'asked', messages: [{ role: 'user', content: 'hi' }], ...fields }
  return unifiedRequest(
    { upstreamModel: 'amazon.nova-pro-v1:0', extraBody: {} },
    { body, dropped() {} },
  )
}

const file = (filename: string, file_data: string) => ({
  type: 'file',
  file: { filename, file_data },
})

describe('refused before any call', () => {
  test.each<[string, JsonObject]>([
    [
      'a remote image',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: 'https://x.test/a.png' }] },
        ],
      },
    ],
    [
      'a remote image',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
          },
        ],
      },
    ],
    [
      'a file of another type',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              file('a.zip', 'data:application/zip;base64,eA=='),
            ],
          },
        ],
      },
    ],
    [
      'a file of the assistant',
      {
        messages: [
          { role: 'assistant', content: [file('a.pdf', 'data:application/pdf;base64,eA==')] },
        ],
      },
    ],
    [
      'a ban on parallel calls',
      {
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
    ],
    ['nothing to say', { messages: [{ role: 'user', content: '' }] }],
    ['only a system message', { messages: [{ role: 'system', content: 'x' }] }],
    ['a hosted tool', { tools: [{ type: 'web_search' }] }],
    ['a choice without tools', { tool_choice: 'required' }],
  ])('%s: %j', (_, fields) => {
    expect(() => send(fields)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

test('consecutive file and text messages are one turn', () => {
  const user = (content: JsonValue) => ({ role: 'user', content })
  const pdf = user([file('a.pdf', 'data:application/pdf;base64,eA==')])
  const call = { id: 't', type: 'function', function: { name: 'f' } }
  const calls = { role: 'assistant', content: null, tool_calls: [call] }
  const result = { role: 'tool', tool_call_id: 't', content: 'Done.' }
  const document = { document: { format: 'pdf', name: 'a', source: { bytes: 'eA==' } } }
  const lastOf = (messages: JsonValue[]) => (send({ messages }).body.messages as JsonValue[]).at(-1)

  expect(lastOf([user('What is it?'), pdf])).toEqual(user([{ text: 'What is it?' }, document]))
  expect(lastOf([pdf, user('What is it?')])).toEqual(user([document, { text: 'What is it?' }]))
  const toolResult = { toolUseId: 't', content: [{ text: 'Done.' }] }
  expect(lastOf([user('Go.'), calls, result, pdf, user('Well?')])).toEqual(
    user([{ toolResult }, document, { text: 'Well?' }]),
  )
})

test('a file without text gets the text that the service requires', () => {
  const pdf = file('a.pdf', 'data:application/pdf;base64,eA==')
  const { messages } = send({ messages: [{ role: 'user', content: [pdf] }] }).body
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { document: { format: 'pdf', name: 'a', source: { bytes: 'eA==' } } },
        { text: 'The file is attached.' },
      ],
    },
  ])
})
