import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { googleSchema } from './google-content-schema.ts'

describe('a schema as Google supports it', () => {
  test.each([
    [
      'a dialect says nothing',
      { $schema: 'http://json-schema.org/draft-07/schema#', $comment: 'x' },
      {},
    ],
    ['a constant is an enum of one', { const: 'a' }, { enum: ['a'] }],
    ['a constant that is not text or number stays', { const: null }, { const: null }],
    [
      'bounds of integers that exclude are the next ones',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 1_000_000 },
      { type: 'integer', minimum: 1, maximum: 999_999 },
    ],
    [
      'the stricter of two bounds counts',
      { type: 'integer', minimum: 5, exclusiveMinimum: 0 },
      { type: 'integer', minimum: 5 },
    ],
    [
      // "exclusiveMinimum must be a number": google-gemini/gemini-cli#4920.
      'flags of draft 4 are bounds',
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: 'number', exclusiveMinimum: 0, maximum: 9 },
    ],
    [
      'flags of draft 4 on integers',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', minimum: 1 },
    ],
    [
      'other numbers keep theirs',
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    [
      'definitions are $defs',
      { $ref: '#/definitions/A', definitions: { A: { const: 1 } } },
      { $ref: '#/$defs/A', $defs: { A: { enum: [1] } } },
    ],
    [
      'members next to a reference are kept around it',
      { $ref: '#/$defs/A', description: 'An A', default: null },
      { anyOf: [{ $ref: '#/$defs/A' }], description: 'An A', default: null },
    ],
    [
      'what must fit all of one fits any of it',
      { allOf: [{ $ref: '#/$defs/A' }], description: 'An A' },
      { anyOf: [{ $ref: '#/$defs/A' }], description: 'An A' },
    ],
    [
      'all of several stays',
      { allOf: [{ const: 1 }, { type: 'integer' }] },
      { allOf: [{ enum: [1] }, { type: 'integer' }] },
    ],
    [
      'anything',
      { properties: { a: true }, items: false },
      { properties: { a: {} }, items: false },
    ],
  ] as [string, JsonObject, JsonObject][])('%s', (_, schema, expected) => {
    expect(googleSchema(schema)).toEqual(expected)
  })

  test('values are not schemas', () => {
    const schema = {
      type: 'object',
      properties: {
        const: { type: 'string', default: { $schema: 'x', const: 1 }, enum: ['', 'const'] },
        $ref: { type: ['string', 'null'], examples: [{ definitions: 1 }] },
      },
      required: ['const'],
      additionalProperties: false,
    }
    expect(googleSchema(schema)).toEqual(schema)
  })
})

describe('schemas as MCP servers have them', () => {
  test('of pydantic: mcp-server-fetch', () => {
    const { properties } = googleSchema({
      title: 'Fetch',
      type: 'object',
      required: ['url'],
      properties: {
        url: { description: 'URL to fetch', format: 'uri', minLength: 1, type: 'string' },
        max_length: {
          default: 5000,
          exclusiveMaximum: 1_000_000,
          exclusiveMinimum: 0,
          title: 'Max Length',
          type: 'integer',
        },
      },
    })
    expect(properties).toMatchObject({
      url: { format: 'uri', minLength: 1 },
      max_length: { default: 5000, minimum: 1, maximum: 999_999 },
    })
  })

  test('of zod-to-json-schema: a union, a literal, defaults', () => {
    expect(
      googleSchema({
        type: 'object',
        properties: {
          edits: {
            type: 'array',
            items: {
              anyOf: [
                { type: 'object', properties: { op: { type: 'string', const: 'add' } } },
                { type: 'object', properties: { op: { type: 'string', const: 'cut' } } },
              ],
            },
          },
          limit: { anyOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'null' }] },
        },
        additionalProperties: false,
        $schema: 'http://json-schema.org/draft-07/schema#',
      }),
    ).toEqual({
      type: 'object',
      properties: {
        edits: {
          type: 'array',
          items: {
            anyOf: [
              { type: 'object', properties: { op: { type: 'string', enum: ['add'] } } },
              { type: 'object', properties: { op: { type: 'string', enum: ['cut'] } } },
            ],
          },
        },
        limit: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
      },
      additionalProperties: false,
    })
  })

  // .NET SDK: github/copilot-cli#4623.
  test('of .NET: types that allow for null, and members that may be anything', () => {
    expect(
      googleSchema({
        type: 'object',
        properties: {
          list: {
            type: ['array', 'null'],
            items: { type: ['object', 'null'], properties: { value: true } },
          },
        },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        list: {
          type: ['array', 'null'],
          items: { type: ['object', 'null'], properties: { value: {} } },
        },
      },
    })
  })
})
