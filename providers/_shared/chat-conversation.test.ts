import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { readConversation } from './chat-conversation.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const names = createToolNames(NAMES_OF_64)

const call = (id: string) => ({ id, type: 'function', function: { name: 'weather' } })
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'snow' })

/** The turns as their roles and the kinds of their blocks. */
function kinds(messages: JsonValue[]): string[] {
  const { turns } = readConversation(messages, { names, dropped() {} })
  return turns.map(({ role, blocks }) => `${role}: ${blocks.map(({ kind }) => kind).join(' ')}`)
}

test('tool results come before the assistant turn that read them', () => {
  const messages = [
    { role: 'user', content: 'Oslo, then Rome?' },
    { role: 'assistant', content: null, tool_calls: [call('a')] },
    result('a'),
    { role: 'assistant', content: 'Snow in Oslo.', tool_calls: [call('b')] },
    result('b'),
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'And?' },
  ]
  expect(kinds(messages)).toEqual([
    'user: text',
    'assistant: tool_use',
    'user: tool_result',
    'assistant: text tool_use',
    'user: tool_result text',
  ])
})

describe('ids on a wire that refuses some', () => {
  const resultsOf = (id: string, more: JsonObject = {}) => {
    const { turns } = readConversation([{ ...result(id), ...more }], { names, dropped() {} })
    return turns.flatMap(({ blocks }) => blocks).filter(({ kind }) => kind === 'tool_result')
  }

  test('one of 64 characters passes, a longer one does not', () => {
    expect(resultsOf('a'.repeat(64))).toMatchObject([{ toolCallId: 'a'.repeat(64) }])
    expect(resultsOf('a'.repeat(65))).toMatchObject([
      { toolCallId: expect.stringMatching(/^tool_[\w-]{43}$/) },
    ])
  })

  test('a result may be marked as failed', () => {
    expect(resultsOf('call:1', { is_error: true })).toMatchObject([{ failed: true }])
    expect(resultsOf('call:1')).toMatchObject([{ failed: false }])
  })
})

test('files are read in the format of each API, and base64 without line breaks', () => {
  const url = 'data:application/pdf;base64,QU\r\nJD'
  const content = [
    { type: 'file', file: { file_data: url, filename: 'a.pdf' } },
    { type: 'input_file', file_data: url, filename: 'a.pdf' },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'QU\nJD' },
    },
  ]
  const { turns } = readConversation([{ role: 'user', content }], { names, dropped() {} })
  const file = { kind: 'document', mediaType: 'application/pdf', data: 'QUJD' }
  const named = { ...file, name: 'a.pdf' }
  expect(turns[0]?.blocks).toMatchObject([named, named, file])
})

test('the media type of an image is read in any case', () => {
  const content = [
    { type: 'image_url', image_url: 'data:Image/PNG;base64,QUJD' },
    { type: 'image', source: { type: 'base64', media_type: 'IMAGE/JPG', data: 'QUJD' } },
  ]
  const { turns } = readConversation([{ role: 'user', content }], { names, dropped() {} })
  expect(turns[0]?.blocks).toMatchObject([{ mediaType: 'image/png' }, { mediaType: 'image/jpeg' }])
})

test('a part of a chat message keeps its cache mark', () => {
  const cache_control = { type: 'ephemeral' }
  const content = [
    { type: 'text', text: 'long', cache_control },
    { type: 'text', text: 'short', cache_control: null },
  ]
  const { turns } = readConversation([{ role: 'user', content }], { names, dropped() {} })
  const [first, second] = turns[0]?.blocks ?? []
  expect(first?.cacheControl).toEqual(cache_control)
  expect(second).not.toHaveProperty('cacheControl')
})

test.each<[JsonObject, string]>([
  [{ content: null, refusal: 'I may not.' }, 'I may not.'],
  [{ content: '', refusal: 'I may not.' }, 'I may not.'],
  [{ content: [{ type: 'refusal', refusal: 'I may not.' }] }, 'I may not.'],
  [{ content: 'Well.', refusal: null }, 'Well.'],
  [
    {
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Well.' },
      ],
    },
    'Well.',
  ],
  [
    {
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Well.' },
      ],
    },
    'Well.',
  ],
  [{ content: 'Well.', refusal: 'I may not.' }, 'Well.'],
])('what an assistant refused before is what it said: %j', (said, text) => {
  const messages = [
    { role: 'user', content: 'Do it.' },
    { role: 'assistant', ...said },
  ]
  const { turns } = readConversation(messages, { names, dropped() {} })
  expect(turns[1]?.blocks).toMatchObject([{ kind: 'text', text }])
})

test('unsupported message members are reported', () => {
  const told: string[] = []
  const messages = [
    { role: 'user', content: 'Hi.', name: 'Bo' },
    {
      role: 'assistant',
      content: [
        { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'Hello.' },
      ],
      audio: { id: 'audio_1' },
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,eA==' } }],
    },
  ]
  readConversation(messages, { names, dropped: (name) => void told.push(name) })
  expect(told).toEqual([
    'messages[].name',
    'messages[].content[].redacted_thinking',
    'messages[].audio',
    'messages[].images',
  ])
})
