import { pageOf } from 'model-gateway/admin'

/** Which rows of a list are asked for. */
export interface Page {
  readonly offset: number
  readonly page_size: number
}

/** Those rows, and how many the whole list has. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** The answer to a list's query, as `listOf` declares it. */
export async function readPage<Row, View>(
  query: Parameters<typeof pageOf>[0],
  read: (page: Page) => Promise<Rows<Row>>,
  viewOf: (row: Row) => View,
) {
  const { offset, ...page } = pageOf(query)
  const { rows, total } = await read({ offset, page_size: page.page_size })
  return { items: rows.map((row) => viewOf(row)), ...page, total }
}
