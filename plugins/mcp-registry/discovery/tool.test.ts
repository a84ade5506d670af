import { expect, test } from 'bun:test'
import type { JsonValue } from 'model-gateway/plugin'
import { readTool } from './tool.ts'

/** As it arrives: through JSON. */
const read = (text: string) => readTool(JSON.parse(text) as JsonValue, 3)

test('title and description lose what no database keeps', () => {
  const tool = read(
    '{"name":"a","title":"x\\ud800\\u0000y 😀","description":"\\udc00\\ud83d\\ude00"}',
  )
  expect([tool.displayName, tool.description]).toEqual(['x\ufffdy 😀', '\ufffd😀'])
  expect(read('{"name":"a","description":"\\ufffd😀"}').definitionHash).toBe(tool.definitionHash)
})

test.each([
  ['5', 'tool 3 is no object'],
  ['{}', 'tool 3 has no name'],
  [String.raw`{"name":"a\u0000"}`, 'the name of tool 3 cannot be kept'],
  [String.raw`{"name":"a\ud800"}`, 'the name of tool 3 cannot be kept'],
  [
    String.raw`{"name":"a","annotations":{"title":"\ud800"}}`,
    'the definition of tool 3 has no canonical form: it holds half a surrogate pair',
  ],
  [
    String.raw`{"name":"a","inputSchema":{"\udc00":1}}`,
    'the definition of tool 3 has no canonical form: it holds half a surrogate pair',
  ],
  [
    '{"name":"a","inputSchema":{"properties":{"q":{"maximum":1e400}}}}',
    'the definition of tool 3 has no canonical form: it holds a number that is out of range',
  ],
  ...['null', '[]', '{"type":null}', '{"type":["object"]}', '{"type":"string"}'].map((schema) => [
    `{"name":"a","inputSchema":${schema}}`,
    'the input schema of tool 3 is not that of an object',
  ]),
])('%s is refused: %s', (text, summary) => {
  expect(() => read(text as string)).toThrow(`invalid tools: ${summary}`)
})

test('a schema that is left out, or states no type, is that of an object', () => {
  expect(read('{"name":"a"}').inputSchema).toBe('{"type":"object"}')
  expect(read('{"name":"a","inputSchema":{}}').inputSchema).toBe('{}')
})
