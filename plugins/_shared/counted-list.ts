import { pageOf, Type } from 'model-gateway/plugin'
import { invalidQuery } from './query.ts'

/** So many matches are counted and can be paged through: the newest. */
export const MOST_COUNTED = 10_000

/** What a list that is counted so far tells beside its rows. */
export const countedMembers = {
  total_exact: Type.Boolean({
    description: `false: there are total or more; at most ${MOST_COUNTED} are counted and can be paged through`,
  }),
}

/** Throws `invalid_request` for a page behind those that are counted. */
export function countedPage(query: { page?: number; page_size?: number }) {
  const page = pageOf(query)
  if (page.offset < MOST_COUNTED) return page
  throw invalidQuery(
    'page',
    `the newest ${MOST_COUNTED} can be paged through; set occurred_at_end to go on`,
  )
}

/** `found`: one more than are counted at most. */
export function countedTotal(found: number) {
  return { total: Math.min(found, MOST_COUNTED), total_exact: found <= MOST_COUNTED }
}
