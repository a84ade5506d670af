import { expect, test } from 'bun:test'
import { GatewayError, strictObject, Type } from 'model-gateway/plugin'
import { compileCheck } from './check.ts'
import { adminRoute } from './contract.ts'

const route = (allowsNul: boolean) =>
  adminRoute({
    method: 'POST',
    path: '/api/v1/admin/things',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'A new thing.',
    body: strictObject({ name: Type.String(), more: Type.Optional(Type.Unknown()) }),
    allowsNul,
    result: Type.Object({}),
    handle: () => ({}),
  })
const check = compileCheck(route(false))

function problemsOf(text: string): unknown {
  try {
    check.body(text)
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.message, error.details?.problems]
    throw error
  }
  return undefined
}

const HALF = 'contains an unpaired surrogate; send whole characters'
const NUL = 'contains the character U+0000; leave it out'

test.each([
  [String.raw`{"name":"a\ud800"}`, '/name', HALF],
  [String.raw`{"name":"\uDC00a"}`, '/name', HALF],
  [String.raw`{"name":"\ude00\ud83d"}`, '/name', HALF],
  [String.raw`{"name":"a","more":{"a/b":[0,{"c~":"\udbff"}]}}`, '/more/a~1b/1/c~0', HALF],
  [String.raw`{"name":"a","more":[{"\ud800":1}]}`, '/more/0', `a member name ${HALF}`],
  [String.raw`"\ud800"`, '/', HALF],
  [String.raw`{"name":"a\u0000"}`, '/name', NUL],
  [String.raw`{"name":"a","more":{"\u0000":1}}`, '/more', `a member name ${NUL}`],
])('the body %s is refused by its path', (text, path, message) => {
  expect(problemsOf(text)).toEqual([
    'validation_failed',
    `${path}: ${message}`,
    [{ path, message }],
  ])
})

test('whole characters pass, however they are written', () => {
  for (const name of ['😀', String.raw`\ud83d\ude00`, String.raw`\\ud800 \\u0000`]) {
    expect(problemsOf(`{"name":"${name}"}`)).toBeUndefined()
  }
})

test('a body may be deep, but not so deep that to walk or write it takes seconds', () => {
  const deep = (levels: number, inner: string) =>
    `{"name":"a","more":${'['.repeat(levels)}${inner}${']'.repeat(levels)}}`
  expect(problemsOf(deep(199, String.raw`"\ud83d\ude00"`))).toBeUndefined()
  expect(problemsOf(deep(199, String.raw`"\ud83d"`))).toContain('validation_failed')
  for (const levels of [200, 100_000]) {
    expect(problemsOf(deep(levels, '1'))).toEqual([
      'invalid_request',
      'the body nests arrays and objects more than 200 levels deep',
      undefined,
    ])
  }
})

test.each(['constructor', '__proto__', 'nonsense'])(
  'the unknown query parameter %s is rejected',
  (name) => {
    const url = new URL(`http://gateway/api/v1/admin/things?${name}=1`)
    expect(() => check.query(url)).toThrow(`query ${name}: is not a known parameter`)
  },
)

test('a route whose body is kept nowhere takes both', () => {
  const value = { name: 'a\0\ud800' }
  expect(compileCheck(route(true)).body(JSON.stringify(value))).toEqual(value)
})

test('each path has one problem, and a missing member is reported as missing', () => {
  const [, , problems] = problemsOf('{"nme":1}') as unknown[]
  expect(problems).toEqual([
    { path: '/name', message: 'is required' },
    { path: '/nme', message: 'is not a known member; known: name, more' },
  ])
})

test('only the first twenty problems of a body are reported', () => {
  const [, , problems] = problemsOf(
    JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`n${n}`, n]))),
  ) as [string, string, { path: string }[]]
  expect(problems).toHaveLength(20)
  expect(problems.at(-1)?.path).toBe('/n18')
})
