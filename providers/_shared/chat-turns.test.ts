/** Conversations that services with strict turns refuse as they are. */
import { expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ContentBlock } from './chat-content.ts'
import { readConversation } from './chat-conversation.ts'
import { hashedId } from './chat-turns.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const user = (content: JsonValue) => ({ role: 'user', content })
const says = (content: string) => ({ role: 'assistant', content })
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f' } })),
})
const result = (tool_call_id: string) => ({
  role: 'tool',
  tool_call_id,
  content: `of ${tool_call_id}`,
})

function word(block: ContentBlock): string {
  switch (block.kind) {
    case 'tool_use':
      return `${block.name}:${block.id}`
    case 'tool_result':
      return `=${block.toolCallId}${block.failed ? '!' : ''}`
    case 'text':
      return `"${block.text}"`
    default:
      return block.kind
  }
}

/** The turns as their roles and what their blocks say in short. */
function turns(...messages: JsonObject[]): string[] {
  const names = createToolNames(NAMES_OF_64)
  return readConversation(messages, { names, dropped() {} }).turns.map(
    ({ role, blocks }) => `${role}: ${blocks.map(word).join(' ')}`,
  )
}

test('consecutive turns of one role are merged', () => {
  expect(turns(user('a'), user('b'), says('c'), says('d'), user('e'))).toEqual([
    'user: "a" "b"',
    'assistant: "c" "d"',
    'user: "e"',
  ])
})

test('empty turns are removed', () => {
  expect(turns(user('a'), says(' \n'), user(''), user([]), says('b'), user('c'))).toEqual([
    'user: "a"',
    'assistant: "b"',
    'user: "c"',
  ])
})

test('a conversation that the assistant begins', () => {
  expect(turns(says('Hello.'), user('Hi.'))).toEqual([
    'user: "(continued)"',
    'assistant: "Hello."',
    'user: "Hi."',
  ])
})

test('a last assistant text does not end in white space', () => {
  expect(turns(user('Count.'), says('One, two, \n'))).toEqual([
    'user: "Count."',
    'assistant: "One, two,"',
  ])
  expect(turns(user('Count.'), says('One \n'), user('On.'))[1]).toBe('assistant: "One \n"')
})

test.each<[string, JsonObject[]]>([
  ['in another order', [user('Go.'), calls('a', 'b'), result('b'), result('a'), user('Well?')]],
  ['behind the user', [user('Go.'), calls('a', 'b'), result('b'), user('Well?'), result('a')]],
  [
    'among other parts',
    [
      user('Go.'),
      calls('a', 'b'),
      user([
        { type: 'text', text: 'Well?' },
        { type: 'tool_result', tool_use_id: 'b', content: 'x' },
      ]),
      result('a'),
    ],
  ],
  [
    'calls in two messages',
    [user('Go.'), calls('a'), calls('b'), result('b'), result('a'), user('Well?')],
  ],
])('results follow their calls, first in their turn: %s', (_, messages) => {
  expect(turns(...messages)).toEqual([
    'user: "Go."',
    'assistant: f:a f:b',
    expect.stringMatching(/^user: =[ab] =[ab] "Well\?"$/),
  ])
})

test('a call without a result gets a placeholder', () => {
  expect(turns(user('Go.'), calls('a', 'b'), result('a'), user('Stop. What now?'))).toEqual([
    'user: "Go."',
    'assistant: f:a f:b',
    'user: =a =b! "Stop. What now?"',
  ])
})

test('results without a call get a call', () => {
  expect(turns(result('a'), result('b'), says('Done.'), user('And?'))).toEqual([
    'user: "(continued)"',
    'assistant: unknown_tool:a unknown_tool:b',
    'user: =a =b',
    'assistant: "Done."',
    'user: "And?"',
  ])
})

test('a repeated id belongs to another call, and is sent as another id', () => {
  expect(turns(user('Go.'), calls('0'), result('0'), calls('0'), result('0'))).toEqual([
    'user: "Go."',
    'assistant: f:0',
    'user: =0',
    `assistant: f:${hashedId('0#1')}`,
    `user: =${hashedId('0#1')}`,
  ])
})

test.each<[JsonValue, JsonObject]>([
  ['{"a":1}', { a: 1 }],
  ['', {}],
  [' ', {}],
  ['null', {}],
  [{ a: 1 }, { a: 1 }],
  ['{"a":', { _raw_arguments: '{"a":' }],
  ['[1]', { _raw_arguments: '[1]' }],
  ['ls -l', { _raw_arguments: 'ls -l' }],
  [7, { _raw_arguments: '7' }],
  [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, { _raw_arguments: expect.any(String) }],
] as [JsonValue, JsonObject][])('arguments that a model wrote before: %j', (stated, input) => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: stated } }
  const messages = [user('Go.'), { role: 'assistant', tool_calls: [call] }, result('a')]
  const names = createToolNames(NAMES_OF_64)
  expect(readConversation(messages, { names, dropped() {} }).turns[1]?.blocks).toMatchObject([
    { input },
  ])
})

test('the call of a custom tool has its text as input', () => {
  const call = { id: 'a', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }
  const messages = [user('Go.'), { role: 'assistant', tool_calls: [call] }, result('a')]
  const names = createToolNames(NAMES_OF_64)
  expect(readConversation(messages, { names, dropped() {} }).turns[1]?.blocks).toMatchObject([
    { name: 'patch', input: { input: '*** Begin' } },
  ])
})

test('assistant content may be a part of the responses API', () => {
  const said = { role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
  expect(turns(user('Go.'), said, user('And?'))).toEqual([
    'user: "Go."',
    'assistant: "Hi."',
    'user: "And?"',
  ])
})
