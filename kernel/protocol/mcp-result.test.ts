import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../plugin/json.ts'
import { responseTexts } from './mcp-result.ts'

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
  expect(replace(['1', '[2]'])).toBeUndefined()
})
