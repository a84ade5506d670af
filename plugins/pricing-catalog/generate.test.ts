import { expect, test } from 'bun:test'
import { generate } from './generate.ts'
import committed from './snapshot.json' with { type: 'json' }

test('the committed snapshot is what the generator makes of the pinned package', () => {
  expect(JSON.parse(generate())).toEqual(committed)
})
