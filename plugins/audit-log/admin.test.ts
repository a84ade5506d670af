import { expect, test } from 'bun:test'
import { auditRoutes } from './admin.ts'

const [route] = auditRoutes({ list: async () => ({ rows: [], total: 0 }) })

async function list(query: Record<string, string>): Promise<unknown> {
  return await route?.handle({ query } as never)
}

test.each([
  '2026-02-31T00:00:00Z',
  '2026-02-28T99:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+05:00',
  '9999-12-31T23:59:59-23:00',
])('%s is not a valid instant', async (text) => {
  for (const name of ['occurred_at_start', 'occurred_at_end']) {
    await expect(list({ [name]: text })).rejects.toThrow(
      `query ${name}: must be a valid RFC 3339 time`,
    )
  }
})

test('an instant of any year in the range is valid', async () => {
  const query = {
    occurred_at_start: '0001-01-01T00:00:00Z',
    occurred_at_end: '9998-12-31T23:59:59Z',
  }
  expect(await list(query)).toMatchObject({ items: [], total: 0 })
})
