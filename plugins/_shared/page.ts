import { pageOf } from 'model-gateway/admin'

/** The requested rows of a list. */
export interface Page {
  readonly offset: number
  readonly page_size: number
}

/** Those rows, and the total number of rows. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** The response to a list query, as `listOf` declares it. */
export async function readPage<Row, View>(
  query: Parameters<typeof pageOf>[0],
  read: (page: Page) => Promise<Rows<Row>>,
  viewOf: (row: Row) => View,
) {
  const { offset, ...page } = pageOf(query)
  const { rows, total } = await read({ offset, page_size: page.page_size })
  return { items: rows.map((row) => viewOf(row)), ...page, total }
}
