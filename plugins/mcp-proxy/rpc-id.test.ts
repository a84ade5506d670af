import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { repeatsKey } from 'model-gateway/wire'
import { cancelledId, readMessage } from './json-rpc.ts'
import { isId, sameId, similarIds, withExactIds } from './rpc-id.ts'

/** As a server's message is read. */
const parsed = (text: string) => withExactIds(text, JSON.parse(text) as JsonValue)
const idIn = (id: string) => (parsed(`{ "result": {"id": 1}, "id" : ${id} }`) as JsonObject).id
const requestId = (id: string) => readMessage(`{"jsonrpc":"2.0","id":${id},"method":"m"}`).id

const numbers = ['9007199254740992', '9007199254740993', '-9007199254740993', '1e400', '0.5']

describe('an id', () => {
  test.each([...numbers, '1', '"1"', '-0', '1e3', '"9007199254740993"'])('is itself: %s', (id) => {
    expect(isId(idIn(id))).toBe(true)
    expect(sameId(idIn(id), requestId(id))).toBe(true)
    expect(JSON.parse(JSON.stringify(idIn(id)))).toEqual(JSON.parse(id) === 0 ? 0 : JSON.parse(id))
  })

  test('differs from every other, however close', () => {
    const ids = [...numbers, '1', '"1"', '"9007199254740993"', 'null', '{"rawJSON":"0.5"}']
    for (const one of ids) {
      const same = ids.filter((id) => sameId(idIn(one), idIn(id) as never))
      expect(same).toEqual(one.startsWith('{') ? [] : [one])
    }
  })

  test('is the same number in another spelling, where that is exact', () => {
    expect(sameId(idIn('1.0'), requestId('1'))).toBe(true)
    expect(sameId(idIn('10e2'), requestId('1000'))).toBe(true)
  })

  test.each(numbers)('is written with every digit: %s', (id) => {
    expect(JSON.stringify(parsed(`{"id":${id},"result":{"id":5}}`))).toBe(
      `{"id":${id},"result":{"id":5}}`,
    )
    const batch = `[{"id":"a","result":{}},{"id":${id},"result":[]},3]`
    expect(JSON.stringify(parsed(batch))).toBe(batch)
  })

  test('that occurs twice has its last value', () => {
    expect(JSON.stringify(idIn('{}, "id": 9007199254740993'))).toBe('9007199254740993')
  })

  test('is all that keeps its digits', () => {
    const text = '{"id":1,"result":{"id":9007199254740993}}'
    expect(parsed(text)).toEqual({ id: 1, result: { id: 9007199254740992 } })
    expect(repeatsKey(text, 0, JSON.parse(text))).toBe(false)
  })
})

test.each([
  ['9007199254740993', '9007199254740993'],
  ['22', '22'],
  ['"a"', '"a"'],
  ['null', undefined],
  ['[]', undefined],
])('the call that is given up is %s', (id, expected) => {
  const message = readMessage(
    ` {"jsonrpc":"2.0","method":"notifications/cancelled","params": {"reason":1,"requestId": ${id}} }`,
  )
  expect(JSON.stringify(cancelledId(message))).toBe(expected as string)
})

test('ids are similar when some client could take one for the other', () => {
  expect(similarIds(1, '1')).toBe(true)
  expect(similarIds(1, 2)).toBe(false)
  expect(similarIds('a', 'b')).toBe(false)
  expect(similarIds(undefined, 1)).toBe(false)
  const [one, other] = [requestId('9007199254740993'), requestId('9007199254740992')]
  expect(similarIds('9007199254740993', one)).toBe(true)
  expect(similarIds('9007199254740993', other)).toBe(false)
})
