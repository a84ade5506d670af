import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatPath, type Problem, Secret, SecretRef, type TSchema, Type } from '../plugin/index.ts'
import { closest } from '../wire/suggest.ts'
import { check } from './config.fixture.ts'
import { type Shaping, shape } from './shape.ts'

function run(schema: TSchema, value: unknown) {
  const problems: Problem[] = []
  const report = (problem: Problem) => problems.push(problem)
  const use: Shaping = { env: { KEY: 'x' }, fill: true, report, origins: new WeakMap() }
  const result = shape(schema, value, [], use)
  return {
    result,
    problems: problems.map((p) => `${formatPath(p.path)}: ${p.message}`),
    raw: problems,
  }
}

describe('objects', () => {
  const schema = Type.Object({
    name: Type.String(),
    inner: Type.Object({ size: Type.Integer({ default: 3 }) }, { default: {} }),
  })

  test('are strict by default, at every depth', () => {
    const { result, problems } = run(schema, { name: 'a', colour: 1, inner: { weight: 2 } })
    expect(problems).toEqual(['colour: is an unknown key', 'inner.weight: is an unknown key'])
    expect(result).toEqual({ name: 'a', inner: { size: 3 } })
  })

  test('take keys of their prototype for unknown', () => {
    expect(run(schema, { name: 'a', constructor: 1, toString: 2 }).problems).toEqual([
      'constructor: is an unknown key',
      'toString: is an unknown key',
    ])
  })

  test('are open if the schema allows it', () => {
    const open = Type.Object({ a: Type.Number() }, { additionalProperties: Type.String() })
    expect(run(open, { a: 1, b: 'x' }).result).toEqual({ a: 1, b: 'x' })
    expect(run(open, { a: 1, b: 2 }).problems).toEqual(['b: must be a string, but is a number'])
  })

  test('stay strict when two are intersected', () => {
    const both = Type.Intersect([
      Type.Object({ a: Type.Number() }),
      Type.Object({ b: Type.Null() }),
    ])
    expect(run(both, { a: 1, b: null }).result).toEqual({ a: 1, b: null })
    expect(run(both, { a: 1, b: null, zzz: 1 }).problems).toEqual(['zzz: is an unknown key'])
  })

  test('may be intersected with a union of them', () => {
    const mode = (name: string) => Type.Literal(name)
    const both = Type.Intersect([
      Type.Object({ name: Type.String({ default: 'n' }) }),
      Type.Union([
        Type.Object({ mode: mode('key'), key: SecretRef() }),
        Type.Object({ mode: mode('none') }),
      ]),
    ])
    expect(run(both, { mode: 'none' })).toMatchObject({
      result: { name: 'n', mode: 'none' },
      problems: [],
    })
    expect(run(both, { mode: 'key', key: 'env.KEY' }).problems).toEqual([])
    expect(run(both, { mode: 'key', name: 7 }).problems).toEqual([
      'name: must be a string, but is a number',
      'key: is required',
    ])
    expect(run(both, { mode: 'none', key: 'env.KEY' }).problems).toEqual(['key: is an unknown key'])
  })

  test('an empty value is not a map', () => {
    const { problems, raw } = run(schema, { name: null, inner: null })
    expect(problems).toEqual([
      'name: must be a string, but is empty',
      'inner: must be a map, but is empty',
    ])
    expect(raw[0]?.hint).toBe('give it a value, or remove the key')
  })
})

test('maps have as many keys as their schemas say', () => {
  const one = Type.Optional(Type.Integer())
  const schema = Type.Object({
    some: Type.Object({ a: one, b: one }, { minProperties: 1 }),
    named: Type.Record(Type.String(), Type.Integer(), { minProperties: 2, maxProperties: 3 }),
  })
  expect(run(schema, { some: {}, named: { a: 1 } }).problems).toEqual([
    'some: must not be empty',
    'named: must have at least 2 keys',
  ])
  expect(run(schema, { some: { a: 1 }, named: { a: 1, b: 2, c: 3, d: 4 } }).problems).toEqual([
    'named: must have at most 3 keys',
  ])
  expect(run(schema, { some: { b: 1 }, named: { a: 1, b: 2 } }).problems).toEqual([])
})

describe('unions', () => {
  const auth = Type.Union([
    Type.Object({ mode: Type.Literal('bearer'), token: SecretRef() }),
    Type.Object({ mode: Type.Literal('none') }),
  ])

  test('of objects are distinguished by their constants', () => {
    expect(run(auth, { mode: 'none' }).result).toEqual({ mode: 'none' })
    const bearer = run(auth, { mode: 'bearer', token: 'env.KEY' }).result
    expect((bearer as { token: unknown }).token).toBeInstanceOf(Secret)
    expect(run(auth, { mode: 'bearer' }).problems).toEqual(['token: is required'])
    expect(run(auth, { mode: 'none', token: 'env.KEY' }).problems).toEqual([
      'token: is an unknown key',
    ])
    expect(run(auth, { mode: 'basic' }).problems).toEqual(['mode: must be one of bearer, none'])
    expect(run(auth, { token: 'env.KEY' }).problems).toEqual(['mode: is required'])
    expect(run(auth, 'none').problems).toEqual([': must be a map, but is a string'])
  })

  test('of other types are distinguished by the type of the value', () => {
    const latency = Type.Union([Type.Number({ minimum: 0 }), Type.Object({ p50: Type.Number() })])
    expect(run(latency, 5).result).toBe(5)
    expect(run(latency, -5).problems).toEqual([': must be at least 0'])
    expect(run(latency, { p50: 'x' }).problems).toEqual(['p50: must be a number, but is a string'])
    expect(run(latency, 'x').problems).toEqual([': must be a number or a map, but is a string'])
  })

  test('with several candidates report the one that fits best', () => {
    const either = Type.Union([
      Type.Object({ a: Type.Number(), b: Type.Number() }),
      Type.Object({ c: Type.Number() }),
    ])
    expect(run(either, { c: 1 }).result).toEqual({ c: 1 })
    expect(run(either, { a: 1, b: 'x' }).problems).toEqual(['b: must be a number, but is a string'])
  })
})

test('records and lists check every entry and drop the bad ones', () => {
  const { result, problems } = run(
    Type.Object({
      map: Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Number()),
      list: Type.Array(Type.Number(), { maxItems: 2 }),
    }),
    { map: { a: 1, b: 'x', C: 3 }, list: [1, 'x', 3] },
  )
  expect(result).toEqual({ map: { a: 1 }, list: [1, 3] })
  expect(problems).toEqual([
    'map.b: must be a number, but is a string',
    'map.C: is an unknown key',
    'list: must have at most 2 entries',
    'list[1]: must be a number, but is a string',
  ])
})

test('an unsupported schema is a problem, not a crash', () => {
  expect(run(Type.Object({ a: Type.Unsafe({ type: 'string' }) }), { a: 1 }).problems).toEqual([
    'a: cannot be checked: schemas of kind Unsafe are not supported here',
  ])
})

test('a default is a copy, so that a frozen config leaves the schema alone', () => {
  const schema = Type.Object({ list: Type.Array(Type.String(), { default: ['a'] }) })
  run(schema, {})
  expect(Object.isFrozen(schema.properties.list.default)).toBe(false)
})

test.each([
  ['base_ur', 'base_url'],
  ['baseUrl', 'base_url'],
  ['alias', 'alias_of'],
  ['porvider', 'provider'],
  ['wholly_different', undefined],
  ['north.shall', 'north.shell'],
  ['North.Git', 'north.git'],
  ['xyz', undefined],
  ['', undefined],
])('for %s the nearest known word is %s', (word, expected) => {
  const known = ['base_url', 'alias_of', 'provider', 'id', 'north.shell', 'north.git']
  expect(closest(word, known)).toBe(expected as string)
})

test('no content of any section makes the check throw or pass a part of the wrong type', () => {
  const sections = ['server', 'database', 'plugins', 'providers', 'models', 'teams', 'other']
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.array(
      fc.record(
        {
          id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
          type: fc.constantFrom('wire', 'wir', 'acme_wire', 7),
          base_url: fc.constantFrom('http://x', 'x', null),
          alias_of: fc.constantFrom('a', 'b', 'c', 1),
          routes: fc.array(
            fc.record({ provider: fc.constantFrom('a', 'b', 'z', 1), upstream_model: fc.string() }),
            { maxLength: 2 },
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...sections), value), (data) => {
      const { loaded, problems } = check(JSON.stringify(data))
      for (const problem of problems) expect(problem.message).not.toBe('')
      expect(loaded === undefined).toBe(problems.some((p) => p.severity !== 'warning'))
      for (const model of loaded?.snapshot.models.values() ?? []) {
        for (const route of model.routes) {
          expect(loaded?.snapshot.providers.has(route.provider)).toBe(true)
        }
      }
    }),
    { numRuns: 300 },
  )
})
