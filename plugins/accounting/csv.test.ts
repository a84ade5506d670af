import { expect, test } from 'bun:test'
import { cell } from './csv.ts'

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '⁼', '₊']
const blanks = ['', ' ', '   ', '\t', '\r', '\n', '\v', '\f', '\0', '\u0085', '\u00a0', '\u200b']
blanks.push(
  '\u3000',
  '\ufeff',
  '\u2060',
  '\u200e',
  '\u00ad',
  '\u2028',
  '\u180e',
  '\ufe0f',
  '\u3164',
  ' \t\u200b ',
)

test('no cell is a spreadsheet formula, whatever precedes its sign', () => {
  for (const sign of signs) {
    for (const blank of blanks) {
      const text = `${blank}${sign}1+1`
      expect(cell(text).replace(/^"|"$/g, '')).toBe(`'${text}`)
    }
  }
  for (const text of ['\tx', '\rx', '\nx']) expect(cell(text)).toContain(`'${text}`)
})

test.each([
  ['plain', 'plain'],
  ['7-eleven', '7-eleven'],
  ['  plain', '  plain'],
  ['语=1', '语=1'],
  ['a "b", c', '"a ""b"", c"'],
  ['a\nb', '"a\nb"'],
  ['a\rb', '"a\rb"'],
])('%p is the cell %p', (text, written) => {
  expect(cell(text)).toBe(written)
})
