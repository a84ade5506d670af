import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { repeatsKey } from 'model-gateway/wire'
import {
  cancelledId,
  decodeHeader,
  encodeHeader,
  faultOf,
  misspellsMember,
  RpcFault,
  readMessage,
  toolCallOf,
  withArguments,
} from './json-rpc.ts'

const noHeaders = () => null

describe('a duplicate key', () => {
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
      return faultOf(message, toolCallOf(message), noHeaders, false) !== undefined
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

/** The error code of a message; undefined if it is valid. */
function codeOf(text: string, headers: Readonly<Record<string, string>> = {}): number | undefined {
  try {
    const message = readMessage(text)
    return faultOf(message, toolCallOf(message), (name) => headers[name] ?? null, false)?.code
  } catch (error) {
    if (error instanceof RpcFault) return error.code
    throw error
  }
}

describe('a key in another case', () => {
  test.each(['JSONRPC', 'Id', 'METHOD', 'param\u017f', 'Result', 'eRROR'])(
    'is a fault when it could be read as one that counts: %s',
    (key) => {
      const text = `{"${key}":1,"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1}}`
      expect(codeOf(text)).toBe(-32600)
      const value = JSON.parse(text)
      expect(misspellsMember(value)).toBe(true)
      expect(misspellsMember([{ id: 1 }, value])).toBe(true)
      expect(misspellsMember([{ id: 1 }])).toBe(false)
    },
  )

  test.each(['NAME', 'Arguments'])('is one in the params of a call, and only there: %s', (key) => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"M","params":{"${key}":1,"name":"t"}}`
    expect(codeOf(text.replace('"M"', '"tools/call"'))).toBe(-32600)
    expect(codeOf(text.replace('"M"', '"prompts/get"'))).toBeUndefined()
  })
})

test('members of arguments that differ in case alone are a fault where a policy reads them', () => {
  const faultIn = (args: string, guarded: boolean) => {
    const params = `{"name":"t","arguments":${args}}`
    const message = readMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)
    return faultOf(message, toolCallOf(message), noHeaders, guarded)?.message
  }
  const twins = '{"a":[{"command":"ls","Command":"rm"}]}'
  expect(faultIn(twins, true)).toContain(
    'Command occurs twice in the same object, in different case; send it once',
  )
  expect(faultIn(twins, false)).toBeUndefined()
  expect(faultIn('{"a":{"id":1},"b":{"Id":1}}', true)).toBeUndefined()
  expect(faultIn('{"x":1,"x":2}', false)).toContain('params.arguments: x occurs twice')
})

test('a tool whose name has outer spaces cannot be called', () => {
  const message = readMessage(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\u00a0bash "}}',
  )
  expect(faultOf(message, toolCallOf(message), noHeaders, false)).toMatchObject({
    code: -32602,
    message: 'params.name: must not begin or end with spaces; write "bash"',
  })
})

test('a fault in the members of a message names the member', () => {
  const ambiguity = (text: string) => readMessage(text).ambiguity
  const call = (member: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",${member}}}`
  expect(ambiguity(call('"Name":"u"'))).toBe('params.Name: must be written name')
  expect(ambiguity(call('"name":"u"'))).toStartWith('params.name: occurs twice in the message')
})

describe('a message', () => {
  test.each([
    ['{', -32700],
    ['[{"jsonrpc":"2.0","method":"m"}]', -32600],
    ['7', -32600],
    ['{"jsonrpc":"1.0","method":"m"}', -32600],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"m","error":{}}', -32600],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', -32600],
    ['{"jsonrpc":"2.0","id":true,"error":{}}', -32600],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', undefined],
    ['{"jsonrpc":"2.0","id":1}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', undefined],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602],
  ])('%s has the fault %p', (text, code) => {
    expect(codeOf(text)).toBe(code)
  })

  test.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['tasks/get', 'taskId'],
    ['tasks/update', 'taskId'],
    ['tasks/cancel', 'taskId'],
  ])('of %s is what its headers say, %s too', (method, member) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { [member]: 'ü' } })
    const headers = { 'mcp-method': method, 'mcp-name': encodeHeader('ü') }
    expect(codeOf(text, headers)).toBeUndefined()
    expect(codeOf(text, { ...headers, 'mcp-name': 'u' })).toBe(-32020)
    expect(codeOf(text, { ...headers, 'mcp-method': 'tools/list' })).toBe(-32020)
  })
})

test('a value that no header can carry goes as Base64, and comes back', () => {
  for (const [value, written] of [
    ['plain text', 'plain text'],
    ['ü', '=?base64?w7w=?='],
    [' blank', '=?base64?IGJsYW5r?='],
    ['aü', '=?base64?YcO8?='],
    ['a =?base64?eA==?=', 'a =?base64?eA==?='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ] as const) {
    expect(encodeHeader(value)).toBe(written)
    expect(decodeHeader(written)).toBe(value)
  }
  expect(decodeHeader('=?base64?eA==?= more')).toBe('=?base64?eA==?= more')
  expect(decodeHeader('=?base64?/w==?=')).toBeUndefined()
})

test('a call is given up by the id that it was sent with', () => {
  const cancel = (method: string, params: string) =>
    cancelledId(readMessage(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`))
  expect(cancel('notifications/cancelled', '{"requestId":7}')).toBe(7)
  expect(cancel('notifications/cancelled', '{"requestId":"a"}')).toBe('a')
  expect(cancel('notifications/cancelled', '{"requestId":null}')).toBeUndefined()
  expect(cancel('notifications/progress', '{"requestId":7}')).toBeUndefined()
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
            faultOf(message, toolCallOf(message), noHeaders, false)
          } catch (error) {
            expect(error).toBeInstanceOf(RpcFault)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['request', '"id":1,"method":"m"'],
    ['notification', '"method":"m"'],
    ['response', '"id":1,"result":{}'],
    ['response', '"id":null,"error":{}'],
  ])('is a %s: %s', (kind, members) => {
    expect(readMessage(`{"jsonrpc":"2.0",${members}}`).kind).toBe(kind as 'request')
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
