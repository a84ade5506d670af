import { expect, test } from 'bun:test'
import { PRESETS_PAGE, withPresets } from './presets-reference.ts'

test('the page about providers has the table that `bun run docs:presets` makes', async () => {
  const page = await Bun.file(PRESETS_PAGE).text()
  expect(withPresets(page)).toBe(page)
  expect(page).toContain('| `groq`')
  expect(() => withPresets('no marks')).toThrow('has lost its marks')
})
