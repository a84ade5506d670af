import { expect, test } from 'bun:test'
import { type JsonSchema, schemaProblems } from './json-schema.ts'

const person: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, pattern: '^[A-Z]' },
    at: { type: 'string', format: 'date-time' },
    role: { type: 'string', enum: ['a', 'b'] },
    tags: { type: 'array', items: { type: 'integer', minimum: 1 } },
    team: { anyOf: [{ type: 'object', properties: { id: { const: 1 } } }, { type: 'null' }] },
    more: { type: 'object', patternProperties: { '^(.*)$': { type: 'number' } } },
  },
}
const good = {
  name: 'Ada',
  at: '2026-01-01T00:00:00.000Z',
  role: 'b',
  tags: [1, 2],
  team: { id: 1 },
  more: { x: 1.5 },
}

test('what fits has no problems', () => {
  expect(schemaProblems(person, good)).toEqual([])
  expect(schemaProblems(person, { name: 'B', team: null })).toEqual([])
})

test.each([
  [null, '/: must be of type'],
  [[], '/: must be of type'],
  [{}, '/: has no name'],
  [{ ...good, name: '' }, '/name'],
  [{ ...good, name: 'ada' }, '/name: must match'],
  [{ ...good, at: '2026-01-01' }, '/at'],
  [{ ...good, role: 'c' }, '/role'],
  [{ ...good, tags: [1, 1.5] }, '/tags/1: must be of type'],
  [{ ...good, tags: [0] }, '/tags/0: must be at least'],
  [{ ...good, team: { id: 2 } }, '/team: fits 0 of 2'],
  [{ ...good, more: { x: 'y' } }, '/more/x'],
  [{ ...good, secret: 1 }, 'undocumented member secret'],
])('%j does not fit', (value, problem) => {
  expect(schemaProblems(person, value).join('\n')).toContain(problem)
})

test('a keyword that is not checked is an error, not a pass', () => {
  expect(() => schemaProblems({ multipleOf: 2 }, 3)).toThrow('multipleOf')
})
