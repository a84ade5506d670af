import { describe, expect, test } from 'bun:test'
import { formatPath } from '../plugin/index.ts'
import { parseConfig } from './parse.ts'

const parse = (text: string) => parseConfig(text)
const found = (text: string) =>
  parse(text).problems.map((p) => `${formatPath(p.path)}@${p.line}:${p.column} ${p.message}`)

describe('reading', () => {
  test('yields plain frozen data', () => {
    const { data, problems } = parse('a: [1, two, { b: null }]\n7: yes\n"c d": 0x10\n')
    expect(problems).toEqual([])
    expect(data).toEqual({ a: [1, 'two', { b: null }], 7: 'yes', 'c d': 16 })
    expect(Object.isFrozen(data?.a)).toBe(true)
  })

  test('finds the place of each value, or of the nearest part around it', () => {
    const { locate } = parse('# first\nmodels:\n  - id: a\n    routes:\n      - { provider: p }\n')
    expect(locate(['models'])).toEqual({ line: 2, column: 1 })
    expect(locate(['models', 0, 'id'])).toEqual({ line: 3, column: 5 })
    expect(locate(['models', 0, 'routes', 0, 'provider'])).toEqual({ line: 5, column: 11 })
    expect(locate(['models', 0, 'routes', 0, 'weight'])).toEqual({ line: 5, column: 9 })
    expect(locate(['nowhere'])).toBeUndefined()
  })

  test('anchors may be used again', () => {
    const { data, problems } = parse('a: &x { b: [1] }\nc: *x\nd: *x\n')
    expect(problems).toEqual([])
    expect(data).toEqual({ a: { b: [1] }, c: { b: [1] }, d: { b: [1] } })
  })
})

describe('refusals', () => {
  test('reports several syntax errors at once, with their places', () => {
    const problems = found('a: [1\nb: 2\nc: "x\n')
    expect(problems.length).toBeGreaterThan(1)
    for (const problem of problems) expect(problem).toMatch(/^@\d+:\d+ YAML syntax: /)
    expect(parse('a: [1\n').data).toBeUndefined()
    expect(found('\ta: 1\n')).toHaveLength(1)
  })

  test.each([
    ['a:\n  - id: x\n    t: y\n     b: z\n', 'indent the next line like this one'],
    ['a: b: c\n', 'or put a text that holds ": " in quotes'],
    ['a:1\nb: 2\n', 'write "key: value", with a space behind the colon'],
    ['a:\n\tb: 1\n', 'indent with spaces'],
    ['a: @b\n', 'put the text in quotes'],
    ['a: `b`\n', 'put the text in quotes'],
  ])('a syntax mistake comes with a hint: %j', (text, hint) => {
    expect(parse(text).problems.map((problem) => problem.hint)).toEqual([
      expect.stringContaining(hint),
    ])
  })

  test('a second document', () => {
    expect(found('a: 1\n---\nb: 2\n')).toEqual([
      '@2:1 a second YAML document begins here, and the file must have one document',
    ])
    expect(found('---\na: 1\n')).toEqual([])
  })

  test('merge keys', () => {
    const [problem] = parse('a: &a { b: 1 }\nc: { <<: *a, d: 2 }\n').problems
    expect(problem).toMatchObject({
      path: ['c', '<<'],
      message: 'YAML merge keys are not supported',
      hint: 'copy the fields, or use the alias for the whole map',
      line: 2,
    })
    expect(found('a: { "<<": 1 }\n')).toEqual([])
  })

  test('a flood of syntax errors is cut short', () => {
    expect(found('['.repeat(3000)).length).toBeLessThanOrEqual(10)
    expect(found('{a: '.repeat(100_000)).length).toBeLessThanOrEqual(10)
  })

  test.each(['text', '[1]', '5'])('%s is not a map of sections', (text) => {
    expect(found(text)).toEqual(['@1:1 must be a map of sections'])
  })

  test('a key that is written twice is named where it is repeated', () => {
    expect(found('a:\n  b: 1\n  c: 2\n  b: 3\n')).toEqual(['a.b@4:3 is written twice'])
    expect(parse('b: 1\nb: 3\n').data).toEqual({ b: 1 })
  })

  test('__proto__ is an unknown key and changes nothing', () => {
    const { data } = parse('a: { __proto__: { polluted: true }, b: 1 }\n')
    expect(found('a: { __proto__: { polluted: true }, b: 1 }\n')).toEqual([
      'a.__proto__@1:6 is an unknown key',
    ])
    expect(data).toEqual({ a: { b: 1 } })
    expect(data).not.toHaveProperty('a.polluted')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('aliases that expand without bound or to nothing', () => {
    const wide = (name: string, of: string) => `${name}: &${name} [${Array(12).fill(of).join(',')}]`
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const bomb = names.map((name, i) => wide(name, i === 0 ? '1' : `*${names[i - 1]}`)).join('\n')
    const start = performance.now()
    expect(found(bomb).map((line) => line.replace(/.* a/, 'a'))).toEqual([
      'aliases expand to too many values',
    ])
    expect(performance.now() - start).toBeLessThan(5000)
    expect(found('a: *b\n')).toEqual(['a@1:4 no anchor &b before this alias'])
    expect(found('a: &a [*a]\n')).toEqual(['a[0]@1:8 the alias refers to a value that contains it'])
  })

  test('nesting beyond all reason', () => {
    const depth = 200
    expect(found(`a: ${'['.repeat(depth)}${']'.repeat(depth)}\n`)).toHaveLength(1)
  })

  test('text that no database keeps', () => {
    const text = String.raw`a: ["x\0", "\ud800", "\U0001F600"]
b: { "k\0": 1, "\udc00": 2 }
`
    expect(found(text)).toEqual([
      'a[0]@1:5 contains the character U+0000',
      'a[1]@1:12 contains an unpaired surrogate',
      'b@2:6 the name of a key contains the character U+0000',
      'b@2:16 the name of a key contains an unpaired surrogate',
    ])
  })

  test('tags: unknown ones are a warning, binary data is refused', () => {
    expect(parse('a: !mine x\n').problems.map((p) => p.severity)).toEqual(['warning'])
    expect(found('a: !!binary aGVsbG8=\n')).toEqual(['a@1:13 has a YAML tag that is not supported'])
  })
})
