import { type Directory, type Static, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Count, Instant, oneOf } from '../_shared/schema.ts'
import { ownerMembers, Usd } from './budget-wire.ts'
import { ownerName } from './owner-names.ts'
import type { ReportRow, Sums } from './report-store.ts'
import { dayText, startOfDay, type Window } from './window.ts'

const sums = {
  spend_usd: Usd('Sum of the ledger'),
  request_count: Type.Integer({ description: 'Ledger rows; the four counts below add up to it' }),
  priced_count: Count,
  legacy_estimated_count: Count,
  unpriced_count: Count,
  usage_missing_count: Count,
  rejected_spend_usd: Usd('Charges that hard limits kept out of the ledger, not in spend_usd'),
  rejected_count: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  uncached_input_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  reasoning_tokens: Count,
}

const report = {
  days: Type.Integer(),
  window_start: Instant,
  window_end: Instant,
  totals: Type.Object(sums),
  daily: Type.Array(
    Type.Object({ day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), ...sums }),
  ),
  models: Type.Array(
    Type.Object({
      model_key: Type.String({ description: 'What was asked for' }),
      resolved_model_key: Type.String({ description: 'What was executed' }),
      ...sums,
    }),
  ),
}

/** A report of one owner. */
export const OwnReport = Type.Object(report)

export const Report = Type.Object({
  ...report,
  owner_kind: oneOf(['all', 'user', 'service_account']),
  owners: Type.Array(
    Type.Object({
      ...ownerMembers,
      ...sums,
    }),
  ),
})

/** The lists of a report; every day of the window is there. */
export function reportLists(rows: readonly ReportRow[], window: Window) {
  const of = (list: ReportRow['list']) => rows.filter((row) => row.list === list)
  const days = new Map(of('day').map((row) => [row.day, wireSums(row)]))
  const daily = Array.from({ length: window.end - window.start }, (_, n) => {
    const day = dayText(window.start + n)
    return { day, ...(days.get(day) ?? wireSums(undefined)) }
  })
  return {
    days: daily.length,
    window_start: startOfDay(window.start).toISOString(),
    window_end: startOfDay(window.end).toISOString(),
    totals: wireSums(of('total')[0]),
    daily,
    models: of('model').map((row) => ({
      model_key: row.model_key,
      resolved_model_key: row.resolved_model_key,
      ...wireSums(row),
    })),
  } satisfies Static<typeof OwnReport>
}

export function reportOwners(rows: readonly ReportRow[], directory: Directory) {
  return rows
    .filter(({ list }) => list === 'owner')
    .map((row) => ({
      owner_kind: row.owner_kind,
      owner_id: row.owner_id,
      owner_name: ownerName({ kind: row.owner_kind, id: row.owner_id }, directory),
      ...wireSums(row),
    }))
}

function wireSums(row: Sums | undefined) {
  const count = (digits: string | undefined) => Number(digits ?? 0)
  return {
    spend_usd: usd(BigInt(row?.cost_pico_usd ?? 0)),
    request_count: count(row?.requests),
    priced_count: count(row?.priced),
    legacy_estimated_count: count(row?.legacy_estimated),
    unpriced_count: count(row?.unpriced),
    usage_missing_count: count(row?.usage_missing),
    rejected_spend_usd: usd(BigInt(row?.rejected_pico_usd ?? 0)),
    rejected_count: count(row?.rejected_count),
    prompt_tokens: count(row?.prompt_tokens),
    completion_tokens: count(row?.completion_tokens),
    total_tokens: count(row?.total_tokens),
    uncached_input_tokens: count(row?.uncached_input_tokens),
    cache_read_tokens: count(row?.cache_read_tokens),
    cache_write_tokens: count(row?.cache_write_tokens),
    reasoning_tokens: count(row?.reasoning_tokens),
  }
}
