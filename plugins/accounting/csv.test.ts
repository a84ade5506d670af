import { expect, test } from 'bun:test'
import { cell } from './csv.ts'

test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('%p is no formula in a spreadsheet', (text) => {
  expect(cell(text).replaceAll('"', '')).toBe(`'${text}`)
})

test.each([
  ['plain', 'plain'],
  ['a "b", c', '"a ""b"", c"'],
  ['a\nb', '"a\nb"'],
  ['a\rb', '"a\rb"'],
])('%p is the cell %p', (text, written) => {
  expect(cell(text)).toBe(written)
})
