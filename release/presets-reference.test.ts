import { expect, test } from 'bun:test'
import { PRESETS_PAGE, withPresets } from './presets-reference.ts'

test('the table of docs/providers/README.md is current: else run `bun run docs:presets`', async () => {
  const page = await Bun.file(PRESETS_PAGE).text()
  expect(withPresets(page)).toBe(page)
  expect(page).toContain('| `groq`')
  expect(() => withPresets('no marks')).toThrow('must contain the comments of docs:presets')
})
