/** Rows that one statement deletes. */
const ROWS = 5_000
/** Statements of one purge: what is left is for the next. */
const STATEMENTS = 200

/** Repeats a statement that deletes at most so many rows while it finds as many; how many there were. */
export async function deleteInBatches(
  statement: (most: number) => PromiseLike<{ readonly count: number }>,
): Promise<number> {
  let deleted = 0
  for (let done = 0; done < STATEMENTS; done += 1) {
    const { count } = await statement(ROWS)
    deleted += count
    if (count < ROWS) break
  }
  return deleted
}
