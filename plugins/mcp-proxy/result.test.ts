import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from 'model-gateway/plugin'
import { responseTexts } from './result.ts'

const response = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result }) as unknown as JsonObject

test('no text, number or name of a result is overlooked', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      let count = 0
      const mark = (item: unknown): unknown => {
        if (typeof item === 'string') return `(text ${count++})`
        if (typeof item === 'number') return 4_000_000 + count++
        if (Array.isArray(item)) return item.map(mark)
        if (item === null || typeof item !== 'object') return item
        return Object.fromEntries(
          Object.values(item).map((member) => [`(text ${count++})`, mark(member)]),
        )
      }
      const marked = mark(value)
      const said = responseTexts([response({ structuredContent: marked })]).segments.join('')
      for (let n = 0; n < count; n++)
        expect(said).toMatch(new RegExp(`\\(text ${n}\\)|${4_000_000 + n}`))
    }),
  )
})

test('binary data and kinds are not text', () => {
  const content = [
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///a', blob: 'aGk=', mimeType: 'text/plain' } },
    { type: 'text', text: 'words' },
  ]
  expect(responseTexts([response({ content })]).segments).toEqual(['words', '["file:///a"]'])
})

test('content that the server defines is judged under any name', () => {
  const own = [
    { type: 'image', data: 'words' },
    { uri: 'u', blob: 'words', mimeType: 'a/b', role: 'user', code: 1, size: 2, priority: 3 },
  ]
  const all = '["image","words","u","words","a/b","user","1","2","3"]'
  expect(responseTexts([response({ structuredContent: own })]).segments).toEqual([all])
  const error = { code: 1, message: 'failed', data: own }
  expect(responseTexts([{ id: 1, error }]).segments).toEqual(['failed', all])
})

test('data that is not Base64 is text', () => {
  const resource = { uri: '', blob: 'some words' }
  const content = [
    { type: 'image', data: 'my words' },
    { type: 'image', data: 'aG\r\nk=' },
    resource,
  ]
  expect(responseTexts([response({ content })]).segments).toEqual(['["my words","some words"]'])
})

const said = (result: unknown) => responseTexts([response(result)]).segments

test('names, kinds and numbers of the protocol are not text', () => {
  const names = ['content', 'structuredContent', 'isError', '_meta', 'message', 'data', 'type']
  names.push('text', 'mimeType', 'resource', 'uri', 'blob', 'name', 'title', 'description')
  names.push('annotations', 'audience', 'lastModified', 'role', '')
  expect(said(Object.fromEntries(names.map((name) => [name, null])))).toEqual([])
  expect(said({ code: 1, size: 2, priority: 3 })).toEqual([])
  for (const type of ['text', 'image', 'audio', 'resource', 'resource_link', 'object']) {
    expect(said({ type })).toEqual([])
  }
  expect(said([{ role: 'user' }, { role: 'assistant' }])).toEqual([])
  expect(said({ type: 'audio', data: 'aGk=' })).toEqual([])
})

test.each([
  { type: 'my text' },
  { type: 'text of mine' },
  { role: 'mister user' },
  { mimeType: 'a word/or two' },
  { mimeType: 'words/ too' },
  { type: 'text', data: 'words' },
  { blob: 'words' },
])('strings where the protocol has none are text: %j', (part) => {
  expect(said({ content: [part] })).toHaveLength(1)
})

test('an error says something as a result does', () => {
  const error = { code: -32000, message: 'words', data: { more: 'of them' } }
  const { segments, replace } = responseTexts([{ jsonrpc: '2.0', id: 1, error }])
  expect(segments).toEqual(['words', '["more","of them"]'])
  expect(replace(['masked', '["more","masked"]'])).toEqual([
    { jsonrpc: '2.0', id: 1, error: { ...error, message: 'masked', data: { more: 'masked' } } },
  ])
})

test('texts go to their own blocks, in order', () => {
  const content = (...texts: string[]) => ({
    content: texts.map((text) => ({ type: 'text', text })),
  })
  const { segments, replace } = responseTexts([
    response(content('a', 'b', 'c')),
    response(content('d')),
  ])
  expect(segments).toEqual(['a', 'b', 'c', 'd'])
  expect(replace(['1', '2', '3', '4'])).toEqual([
    response(content('1', '2', '3')),
    response(content('4')),
  ])
})

test('other texts go to the same places', () => {
  const content = [{ type: 'text', text: 'one' }]
  const { segments, replace } = responseTexts([
    response({ content, structuredContent: { a: ['two'], n: 1 } }),
  ])
  expect(segments).toEqual(['one', '["a","two","n","1"]'])
  expect(replace(['1', '["a","2","m","1"]'])).toEqual([
    response({ content: [{ type: 'text', text: '1' }], structuredContent: { a: ['2'], m: 1 } }),
  ])
  expect(replace(['one', '["a","two","n","***"]'])).toEqual([
    response({ content, structuredContent: { a: ['two'], n: '***' } }),
  ])
  expect(replace(['1', '["2","3"]'])).toBeUndefined()
  expect(replace(['1', 'no'])).toBeUndefined()
  expect(replace(['1', '["a","2","n",1]'])).toBeUndefined()
})
