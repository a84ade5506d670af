import { expect, test } from 'bun:test'
import { repeatsCredentials } from './credentials.ts'
import { readTool } from './tool.ts'

const TOKEN = 'canary7"token/value'
const plain = { name: 'a', title: 'A', description: 'Says x' }
const bearer = { authorization: `Bearer ${TOKEN}` }
const repeats = (tool: object, headers: Record<string, string> = bearer) =>
  repeatsCredentials([readTool(plain, 1), readTool({ ...plain, ...tool }, 2)], headers)

test('a value that was sent is found wherever it would be kept', () => {
  const quoted = JSON.stringify({ token: TOKEN })
  for (const tool of [
    { name: `a-${TOKEN}` },
    { title: TOKEN },
    { title: TOKEN.replace('7', '\x007') },
    { description: `called with Bearer ${TOKEN}!` },
    { description: `sent: ${quoted}` },
    { description: `sent: ${JSON.stringify(quoted)}` },
    { annotations: { title: 'A', hint: [TOKEN] } },
    { inputSchema: { type: 'object', default: { token: TOKEN } } },
    { inputSchema: { type: 'object', properties: { [TOKEN]: {} } } },
    { inputSchema: { type: 'object', description: quoted } },
  ]) {
    expect([tool, repeats(tool)]).toEqual([tool, true])
  }
  expect(repeats({})).toBe(false)
})

test('the password of basic credentials counts as well', () => {
  const basic = { authorization: `Basic ${btoa('ada:open-sesame')}` }
  expect(repeats({ description: btoa('ada:open-sesame') }, basic)).toBe(true)
  expect(repeats({ description: 'Say open-sesame' }, basic)).toBe(true)
})

test('no credentials, and texts that match by chance, do not fail a run', () => {
  expect(repeats({}, {})).toBe(false)
  expect(
    repeats({ description: 'Says x' }, { a: '', b: ' ', c: 'x', d: 'Says', e: 'Bearer x' }),
  ).toBe(false)
  expect(repeats({ description: 'Says sesame7' }, { a: 'sesame7' })).toBe(false)
  expect(repeats({ description: 'Says sesame78' }, { a: 'sesame78' })).toBe(true)
})
