import { expect, test } from 'bun:test'
import genericCompat from '../../../../providers/generic-compat/index.ts'
import { entryOf, fieldsOf, isShown, type Schema } from './schema-fields.ts'

const schemaOf = (type: string) =>
  genericCompat.manifest.providerTypes?.find((spec) => spec.type === type)?.config as Schema

test('the fields of a provider type; fields of a variant show only if it is chosen', () => {
  const fields = fieldsOf(schemaOf('generic_compat'))
  const at = Object.fromEntries(fields.map((field) => [field.path, field]))
  expect(at.base_url).toMatchObject({ kind: 'text', required: true })
  expect(at['auth.mode']).toMatchObject({
    kind: 'choice',
    required: false,
    words: ['bearer', 'none'],
  })
  expect(at['auth.token']).toMatchObject({ kind: 'secret', only: { value: 'bearer' } })
  const token = fields.filter(({ path }) => path === 'auth.token')
  expect(token.map((field) => isShown(field, { 'auth.mode': 'none' }))).toEqual([false])
  const written = { base_url: 'http://a/v1', 'auth.mode': 'bearer', 'auth.token': 'env.KEY' }
  expect(entryOf(fields, written)).toEqual({
    base_url: 'http://a/v1',
    auth: { mode: 'bearer', token: 'env.KEY' },
  })
  expect(entryOf(fields, { ...written, 'auth.mode': 'none' }).auth).toEqual({ mode: 'none' })
})

test('values are converted to the types of the schema, and invalid ones are sent as typed', () => {
  const schema: Schema = {
    properties: {
      name: { anyOf: [{ const: 'a' }, { const: 'b' }] },
      inner: { properties: { many: { type: 'integer' }, on: { type: 'boolean' } } },
      list: { type: 'array' },
    },
  }
  const fields = fieldsOf(schema)
  expect(fields.map(({ kind }) => kind)).toEqual(['choice', 'number', 'switch', 'json'])
  const written = { name: 'b', 'inner.many': '5', 'inner.on': 'false', list: '[1]' }
  expect(entryOf(fields, written)).toEqual({ name: 'b', inner: { many: 5, on: false }, list: [1] })
  const wrong = { 'inner.many': 'five', list: '[1', name: '' }
  expect(entryOf(fields, wrong)).toEqual({ inner: { many: 'five' }, list: '[1' })
})
