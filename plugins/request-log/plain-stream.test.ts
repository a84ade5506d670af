import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { streamEvent } from 'model-gateway/wire'
import { chatFrames } from '../../test/harness/upstream.ts'
import { prune } from '../_shared/prune.ts'
import { plainStream } from './plain-stream.ts'
import { readEvents } from './stream-events.ts'
import { finish } from './testing.ts'

const chunk = (delta: JsonValue, finish_reason: string | null = null) =>
  JSON.stringify({ id: 'x', choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
const plain = (datas: readonly string[]) => plainStream(datas.map((data) => streamEvent(data)))
const texts = (count: number) =>
  Array.from({ length: count }, (_, n) => chunk({ content: `${n} ` }))

test('a typical chat stream is plain, including its end', () => {
  const request = { model: 'm', stream_options: { include_usage: true } }
  const pieces = Array.from({ length: 64 }, (_, n) => `größer "${n}"\n`)
  const datas = chatFrames(request, { pieces }).map((frame) => frame.slice(6, -2))
  const events = JSON.parse(plain(datas) ?? 'null')
  expect(events).toEqual([...datas.slice(0, -1).map((data) => JSON.parse(data)), '[DONE]'])
})

test.each([
  ['a key', chunk({ content: 'gwk_abcdefghijkl' })],
  ['a sensitive member', JSON.stringify({ choices: [], token: 'x' })],
  ['a duplicate sensitive member', '{"choices":[],"Api-Key":"x","Api-Key":1}'],
  ['a sensitive member in arguments', chunk({ arguments: '{"password":"x"}' })],
  ['an escape that could hide something', '{"choices":[],"\\u0074oken":"x"}'],
  ['a member that is a secret at first', '{"choices":[],"token":"x","token":true}'],
  ['a signature', JSON.stringify({ choices: [], thought_signature: 'x' })],
  ['a URL', chunk({ content: 'see https://a:b@c' })],
  ['a setting', chunk({ content: 'DB_PASSWORD=hunter2' })],
  ['a parameter', chunk({ content: '?sig=abcdef' })],
  ['a bearer token', chunk({ content: 'Bearer abcdefghij' })],
  ['something bulky', chunk({ data: 'A'.repeat(2_000) })],
  ['a second choice', JSON.stringify({ choices: [{ index: 1, delta: { content: 'a' } }] })],
])('a stream with %s is not', (_, data) => {
  expect(plain(texts(20))).toBeDefined()
  for (const at of [0, 10, 20]) expect(plain(texts(20).toSpliced(at, 0, data))).toBeUndefined()
})

test('a secret in several deltas is detected', () => {
  const pieces = ['{"pass', 'word', '":"', 'CANARY', '"}']
  expect(plain([...texts(20), ...pieces.map((piece) => chunk({ content: piece }))])).toBeUndefined()
})

test('events without JSON do not affect the JSON ones', () => {
  const head = '{"id":"x","choices":[{"index":0,"delta":{"content":"'
  const tail = '"},"logprobs":null,"finish_reason":null}]}'
  for (const middle of ['a","b":["', 'a\\', 'a\\x', 'a\n', '"},{"', '\\']) {
    const json = plain([...texts(20), `${head}${middle}${tail}`]) ?? '[]'
    expect(() => JSON.parse(json)).not.toThrow()
    expect([0, 21]).toContain(JSON.parse(json).length)
  }
})

test('events without JSON are strings, equal or not', () => {
  const broken = Array.from({ length: 4 }, (_, n) => `{broken "content":"${n}"`)
  const json = plain([...texts(20), ...broken]) ?? 'null'
  expect(JSON.parse(json).slice(20)).toEqual(broken)
})

test('a plain stream equals the result of full parsing', () => {
  const doubtful = ['gwk_', 'abcdefghijkl', '"token":"', 'Bearer ', '\\', '?sig=', '://']
  doubtful.push('ghp_', 'AKIA', 'password=', 'session: ')
  const piece = fc.oneof(
    { weight: 40, arbitrary: fc.string({ unit: fc.constantFrom(...'abc "\n,ö:'), maxLength: 12 }) },
    { weight: 1, arbitrary: fc.constantFrom(...doubtful) },
  )
  let plainOnes = 0
  fc.assert(
    fc.property(fc.array(piece, { minLength: 10, maxLength: 30 }), (pieces) => {
      const datas = pieces.map((content) => chunk({ content }))
      const json = plain(datas)
      if (json === undefined) return
      plainOnes += 1
      const events = finish(readEvents(datas.map((data) => streamEvent(data)))).value
      expect({ events: JSON.parse(json) } as JsonObject).toEqual(
        prune({ events }, undefined, 1e9).value as JsonObject,
      )
    }),
    { numRuns: 1_000 },
  )
  expect(plainOnes).toBeGreaterThan(100)
})
