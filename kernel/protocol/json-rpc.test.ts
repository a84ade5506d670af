import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { repeatsKey } from '../plugin/json-keys.ts'
import {
  faultOf,
  RpcFault,
  readMessage,
  statusOf,
  toolCallOf,
  toolOverhead,
  withArguments,
} from './json-rpc.ts'

const noHeaders = () => null

describe('a key that stands twice', () => {
  const repeats = (text: string, at = 0) => repeatsKey(text, at, JSON.parse(text.slice(at)))

  test('is found wherever it is, and only then', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(repeats(JSON.stringify(value, null, 1))).toBe(false)
      }),
    )
    for (const text of [
      '{"a":1,"a":2}',
      '[{"b":{"a":"}","a":2}}]',
      '{"a":1,"\\u0061":2}',
      '{ "x" : ["a","a"] , "a" :1, "a"\n:2}',
      '{"a":{"b":{"c":1}},"a":null}',
      '{"__proto__":1,"__proto__":{"a":1}}',
    ]) {
      expect(repeats(text)).toBe(true)
    }
    for (const text of [
      '{"a":{"a":"a","b":["a"]},"b":1}',
      '{"a":":","b":"\\":"}',
      '{"__proto__":{"a":1}}',
      '"a:b"',
      '[]',
      '0',
    ]) {
      expect(repeats(text)).toBe(false)
    }
  })

  test('is looked for in the value that begins there', () => {
    const text = '{"x":{"a":1,"a":2},"y":{"a":1},"z":{"b":1}}'
    expect(repeatsKey(text, text.indexOf('{"a":1}'), { a: 1 })).toBe(false)
    expect(repeatsKey(text, text.indexOf('{"a":1,'), { a: 2 })).toBe(true)
  })

  test('takes linear time', () => {
    const deep = `${'{"a":['.repeat(200_000)}${']}'.repeat(200_000)}`
    const begin = performance.now()
    expect(repeats(deep)).toBe(false)
    expect(performance.now() - begin).toBeLessThan(2_000)
  })

  test('is a fault in the message, in its params and in the arguments of a call, nowhere else', () => {
    const faulty = (text: string) => {
      const message = readMessage(text)
      return faultOf(message, toolCallOf(message), noHeaders) !== undefined
    }
    const call = (params: string, more = '') =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call"${more},"params":{"name":"t"${params}}}`
    expect(faulty(call(''))).toBe(false)
    expect(faulty(call(',"arguments":{"a":1}'))).toBe(false)
    expect(faulty(call('', ',"id":1'))).toBe(true)
    expect(faulty(call('', ',"params":{}'))).toBe(true)
    expect(faulty(call(',"name":"u"'))).toBe(true)
    expect(faulty(call(',"arguments":{},"arguments":{"a":1}'))).toBe(true)
    expect(faulty(call(',"arguments":{"a":[{"b":1,"b":1}]}'))).toBe(true)
    expect(faulty(call(',"_meta":{"a":1,"a":1}'))).toBe(false)
    const list =
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a","cursor":"b"}}'
    expect(faulty(list)).toBe(true)
  })
})

describe('a message', () => {
  test('whatever it is, is read or refused, and never harms', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((v) => JSON.stringify(v)),
        ),
        (text) => {
          try {
            const message = readMessage(text)
            faultOf(message, toolCallOf(message), noHeaders)
          } catch (error) {
            expect(error).toBeInstanceOf(RpcFault)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('keeps its id as it was written', () => {
    const read = (id: string) => readMessage(`{"jsonrpc":"2.0","id": ${id} ,"method":"m"}`)
    expect(read('1e0')).toMatchObject({ id: 1, idText: '1e0', kind: 'request' })
    expect(read('"\\u0031"')).toMatchObject({ id: '1', idText: '"\\u0031"' })
  })

  test('gets other arguments and stays what it was', () => {
    const text =
      '{"id":1.0,"params":{"arguments" : {"a":1} ,"name":"t"},"method":"tools/call","jsonrpc":"2.0"}'
    const message = readMessage(text)
    const call = toolCallOf(message)
    expect(call).toMatchObject({ tool: 't', arguments: { a: 1 } })
    expect(withArguments(message, call as NonNullable<typeof call>, '{"b":2}')).toBe(
      text.replace('{"a":1}', '{"b":2}'),
    )
  })
})

test('the status of a call is what its response says', () => {
  expect(statusOf({ result: { isError: true } })).toBe('tool_error')
  expect(statusOf({ result: { isError: 'true' } })).toBe('success')
  expect(statusOf({ error: {} })).toBe('upstream_error')
})

test('tools weigh a quarter of a token for each byte of what a model reads of them', () => {
  const tool = {
    name: 'ü',
    description: 'd',
    inputSchema: { type: 'object' },
    annotations: { title: 'no' },
  }
  const bytes = Buffer.byteLength('{"name":"ü","description":"d","inputSchema":{"type":"object"}}')
  expect(toolOverhead({ result: { tools: [tool, tool] } })).toEqual({
    tools: 2,
    tokens: 2 * Math.ceil(bytes / 4),
  })
  expect(toolOverhead({ result: {} })).toBeUndefined()
})
