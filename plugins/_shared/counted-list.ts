import { listOf, pageOf } from 'model-gateway/admin'
import { type TSchema, Type } from 'model-gateway/plugin'
import { type Page, type Rows, readPage } from './page.ts'
import { invalidQuery } from './query.ts'

/** Maximum number of matches that are counted and can be paged through, newest first. */
export const MOST_COUNTED = 10_000

/** The `data` of a list with a limited count. */
export function countedListOf<T extends TSchema>(item: T) {
  return Type.Object({
    ...listOf(item).properties,
    total_exact: Type.Boolean({
      description: `false: total is a minimum, because at most ${MOST_COUNTED} rows are counted and can be paged through`,
    }),
  })
}

/**
 * The response to a list query; `read` reads one more row than are counted. Throws
 * `invalid_request` for a page beyond the counted rows.
 */
export async function readCountedPage<Row, View>(
  query: Parameters<typeof pageOf>[0],
  read: (page: Page) => Promise<Rows<Row>>,
  viewOf: (row: Row) => View,
) {
  if (pageOf(query).offset >= MOST_COUNTED) {
    throw invalidQuery(
      'page',
      `the newest ${MOST_COUNTED} can be paged through; set occurred_at_end to go on`,
    )
  }
  const { total: found, ...page } = await readPage(query, read, viewOf)
  return { ...page, total: Math.min(found, MOST_COUNTED), total_exact: found <= MOST_COUNTED }
}
