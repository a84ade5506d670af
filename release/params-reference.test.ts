import { expect, test } from 'bun:test'
import { MARK, PARAMS_PAGE, paramsReference } from './params-reference.ts'

test('docs/dropped-parameters.md is current: else run `bun run docs:params`', async () => {
  const [, tables = ''] = (await Bun.file(PARAMS_PAGE).text()).split(MARK)
  expect(tables.trim()).toBe(paramsReference().trim())
  for (const word of ['sent', 'dropped', '400']) expect(tables).toContain(`| ${word} `)
})
