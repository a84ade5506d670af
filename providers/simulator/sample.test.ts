import { expect, test } from 'bun:test'
import type { JsonValue } from 'model-gateway/plugin'
import { sample } from './sample.ts'

test.each([
  [{ type: 'string' }, 'example'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: 'string', minLength: 9 }, 'example..'],
  [{ type: 'string', maxLength: 2 }, 'ex'],
  [{ type: ['null', 'integer'], minimum: 2.5 }, 3],
  [{ type: 'number', exclusiveMinimum: 4 }, 5],
  [{ type: 'integer', maximum: -3 }, -3],
  [{ type: 'boolean' }, true],
  [{ type: 'null' }, null],
  [{ const: 7 }, 7],
  [{ enum: ['celsius', 'kelvin'] }, 'celsius'],
  [{ type: 'string', default: 'Oslo' }, 'Oslo'],
  [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
  [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
  [{ type: 'array', items: { type: 'integer' }, maxItems: 0 }, []],
  [
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { $ref: '#/$defs/unit' }, optional: {} },
      required: ['a', 'b'],
      $defs: { unit: { enum: ['m', 'ft'] } },
    },
    { a: 'example', b: 'm' },
  ],
  [undefined, null],
  [true, null],
] as [JsonValue | undefined, JsonValue][])('%j gives %j', (schema, value) => {
  expect(sample(schema)).toEqual(value)
})

test('a recursive schema terminates', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  expect(JSON.stringify(sample(node))).toContain('null')
})
