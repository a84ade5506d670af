import type { Data } from '@/api/query.ts'
import { oneOf, page, text, type Values as ValuesOf } from '@/lib/filters.ts'

export type Report = Data<'/api/v1/admin/spend/report'>
export type Sums = Report['totals']

export const filters = {
  days: oneOf(['7', '30'], '7'),
  by: oneOf(['model', 'owner'], 'model'),
  owner_kind: oneOf(['all', 'user', 'service_account'], 'all'),
  // Of the rejected charges. Who pays is `owner_id` in the API, and here as on the other pages.
  reason: oneOf(['', 'budget_exceeded', 'duplicate_race'], ''),
  user_id: text,
  service_account_id: text,
  request_id: text,
  page,
}

export type Values = ValuesOf<typeof filters>

/** The requests of a window, as far as they have something in common. */
export function requestsOf(
  { window_start, window_end }: Pick<Report, 'window_start' | 'window_end'>,
  search: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...search, occurred_at_start: window_start, occurred_at_end: window_end }
}
