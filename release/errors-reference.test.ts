import { expect, test } from 'bun:test'
import { allErrors, ERRORS_PAGE, withErrors } from './errors-reference.ts'

test('docs/errors.md has the table that `bun run docs:errors` makes', async () => {
  const page = await Bun.file(ERRORS_PAGE).text()
  expect(withErrors(page)).toBe(page)
  expect(page).toContain('| `budget_exceeded`')
})

test('each error has one owner, an error status, and says when it happens and what to do', () => {
  const codes = allErrors.map(({ code }) => code)
  expect(codes.length).toBeGreaterThan(30)
  expect(new Set(codes).size).toBe(codes.length)
  for (const { code, status, type, when, fix } of allErrors) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(status).toBeWithin(400, 600)
    expect(type).toMatch(/^[a-z_]+_error$/)
    expect(when.length).toBeWithin(10, 121)
    expect(fix.length).toBeWithin(4, 121)
  }
})
