import { expect, test } from 'bun:test'
import { visiblePieces } from './hidden-text.ts'

test('invisible characters are shown', () => {
  expect(visiblePieces('a\u202eb\u{e0041}')).toEqual([
    { text: 'a', hidden: false },
    { text: 'U+202E', hidden: true },
    { text: 'b', hidden: false },
    { text: 'U+E0041', hidden: true },
  ])
})
