/** Rows per delete statement. */
const ROWS = 5_000
/** Maximum number of statements per purge; the next purge continues. */
const STATEMENTS = 200

/** Repeats a limited delete statement while it deletes full batches; returns the number of rows. */
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
