import { expect, test } from 'bun:test'
import { curlOf } from './curl.ts'
import { errorOfEvent, textOfEvent, textOfReply } from './stream-text.ts'

test('the command quotes every value, and a shell reads the same values', async () => {
  const body = { model: 'it\'s `id` $(id) \\ "x"', messages: [{ content: "line\n'two'" }] }
  const command = curlOf('http://gw.test', 'messages', body, { 'x-gateway-env': "a'b $HOME" })
  expect(command).toContain("'http://gw.test/v1/messages'")
  const script = `GATEWAY_API_KEY=k; curl() { printf '%s\\0' "$@"; }; ${command}`
  const out = await new Response(Bun.spawn(['bash', '-c', script]).stdout).text()
  const words = out.split('\0')
  expect(words).toContain('authorization: Bearer k')
  expect(words).toContain("x-gateway-env: a'b $HOME")
  expect(JSON.parse(words.at(-2) as string)).toEqual(body)
})

test('stream events give their text on every API', () => {
  expect(textOfEvent({ choices: [{ delta: { content: 'a' } }] })).toBe('a')
  expect(textOfEvent({ type: 'response.output_text.delta', delta: 'b' })).toBe('b')
  expect(textOfEvent({ type: 'content_block_delta', delta: { text: 'c' } })).toBe('c')
  for (const other of ['[DONE]', null, {}, { choices: [] }, { choices: [{ delta: null }] }]) {
    expect(textOfEvent(other)).toBe('')
  }
})

test('whole replies give their text on every API', () => {
  expect(textOfReply({ choices: [{ message: { content: 'a' } }] })).toBe('a')
  expect(textOfReply({ output: [{ content: [{ text: 'b' }] }, { type: 'x' }] })).toBe('b')
  expect(textOfReply({ content: [{ text: 'c' }, { text: 'd' }] })).toBe('cd')
  expect(textOfReply('nothing')).toBe('')
})

test('an error inside a stream is found', () => {
  const error = { code: 'upstream_error', message: 'gone' }
  expect(errorOfEvent({ error })).toEqual(error)
  expect(errorOfEvent({ type: 'response.failed', response: { error } })).toEqual(error)
  expect(errorOfEvent({ choices: [] })).toBeUndefined()
})
