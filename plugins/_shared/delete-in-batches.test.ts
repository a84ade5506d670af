import { expect, test } from 'bun:test'
import { deleteInBatches } from './delete-in-batches.ts'

/** A table of so many rows, and how many statements it has seen. */
function table(rows: number) {
  const seen: number[] = []
  return {
    seen,
    async remove(most: number) {
      const count = Math.min(most, rows)
      rows -= count
      seen.push(count)
      return { count }
    },
  }
}

test.each([
  [0, [0]],
  [4_999, [4_999]],
  [5_000, [5_000, 0]],
  [12_000, [5_000, 5_000, 2_000]],
])('%d rows go in batches', async (rows, batches) => {
  const { seen, remove } = table(rows)
  expect(await deleteInBatches(remove)).toBe(rows)
  expect(seen).toEqual(batches)
})

test('deletes at most a million rows per run', async () => {
  const { seen, remove } = table(2_000_000)
  expect(await deleteInBatches(remove)).toBe(1_000_000)
  expect(seen).toHaveLength(200)
})
