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

test('a title that is only in the annotations is the title', () => {
  expect(read('{"name":"a","annotations":{"title":"A"}}').displayName).toBe('A')
  expect(read('{"name":"a","title":"B","annotations":{"title":"A"}}').displayName).toBe('B')
})

test('a definition is another one with another hint for the model, and the same without meaning', () => {
  const hash = (rest: string) => read(`{"name":"a"${rest}}`).definitionHash
  const hashes = [
    hash(''),
    hash(',"description":"x"'),
    hash(',"annotations":{"readOnlyHint":true}'),
    hash(',"annotations":{"readOnlyHint":false}'),
    hash(',"inputSchema":{"properties":{}}'),
  ]
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(hash(',"_meta":{"at":1}')).toBe(hash(''))
})

test.each([
  ['5', 'tool 3 is not an object'],
  ['{}', 'tool 3 has no name'],
  [
    String.raw`{"name":"a\u0000"}`,
    'the name of tool 3 is too long or has characters that cannot be stored',
  ],
  [
    String.raw`{"name":"a\ud800"}`,
    'the name of tool 3 is too long or has characters that cannot be stored',
  ],
  [
    String.raw`{"name":"a","annotations":{"title":"\ud800"}}`,
    'the definition of tool 3 contains half of a surrogate pair',
  ],
  [
    String.raw`{"name":"a","inputSchema":{"\udc00":1}}`,
    'the definition of tool 3 contains half of a surrogate pair',
  ],
  [
    '{"name":"a","inputSchema":{"properties":{"q":{"maximum":1e400}}}}',
    'the definition of tool 3 contains a number that is out of range',
  ],
  ...['null', '[]', '{"type":null}', '{"type":["object"]}', '{"type":"string"}'].map((schema) => [
    `{"name":"a","inputSchema":${schema}}`,
    'the input schema of tool 3 does not describe an object',
  ]),
])('%s is refused: %s', (text, summary) => {
  expect(() => read(text as string)).toThrow(`invalid tools: ${summary}`)
})

test('a schema that is left out, or states no type, is that of an object', () => {
  expect(read('{"name":"a"}').inputSchema).toBe('{"type":"object"}')
  expect(read('{"name":"a","inputSchema":{}}').inputSchema).toBe('{}')
})
