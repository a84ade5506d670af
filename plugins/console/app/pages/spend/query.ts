import type { Data } from '@/api/query.ts'
import { oneOf, page, text, type Values as ValuesOf } from '@/lib/filters.ts'

export type Report = Data<'/api/v1/admin/spend/report'>
export type Sums = Report['totals']

export const filters = {
  days: oneOf(['7', '30'], '7'),
  by: oneOf(['model', 'owner'], 'model'),
  owner_kind: oneOf(['all', 'user', 'service_account'], 'all'),
  // A filter of the rejected charges. The owner is `owner_id` in their API, but has the names of
  // the other pages here.
  reason: oneOf(['', 'budget_exceeded', 'duplicate_race'], ''),
  user_id: text,
  service_account_id: text,
  request_id: text,
  page,
}

export type Values = ValuesOf<typeof filters>

/** Search parameters for the requests of a window that share some filters. */
export function requestsOf(
  { window_start, window_end }: Pick<Report, 'window_start' | 'window_end'>,
  search: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...search, occurred_at_start: window_start, occurred_at_end: window_end }
}
