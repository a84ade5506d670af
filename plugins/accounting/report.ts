import type { Directory } from 'model-gateway/identity'
import { type Static, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { asView, Count, Instant, oneOf } from '../_shared/schema.ts'
import { ownerMembers, Usd } from './budget-wire.ts'
import { type OwnerId, ownerName } from './owner-names.ts'
import { dayText, startOfDay, type Window } from './window.ts'

const Sums = Type.Object({
  spend_usd: Usd('Sum of the ledger rows'),
  request_count: Type.Integer({ description: 'Ledger rows; the four counts below add up to it' }),
  priced_count: Count,
  legacy_estimated_count: Count,
  unpriced_count: Count,
  usage_missing_count: Count,
  rejected_spend_usd: Usd('Charges that hard limits rejected; not included in spend_usd'),
  rejected_count: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  uncached_input_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  reasoning_tokens: Count,
})
const sums = Sums.properties

const report = {
  days: Type.Integer(),
  window_start: Instant,
  window_end: Instant,
  totals: Sums,
  daily: Type.Array(
    Type.Object({ day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), ...sums }),
  ),
  models: Type.Array(
    Type.Object({
      model_key: Type.String({ description: 'Requested model' }),
      resolved_model_key: Type.String({ description: 'Executed model' }),
      ...sums,
    }),
  ),
}

/** A report of one owner. */
export const OwnReport = Type.Object(report)

export const Report = Type.Object({
  ...report,
  owner_kind: oneOf(['all', 'user', 'service_account']),
  owners: Type.Array(Type.Object({ ...ownerMembers, ...sums })),
})

/**
 * Sums of ledger rows and rejected charges as read from the database, with money as decimal
 * strings.
 */
interface SumsRow extends Omit<Static<typeof Sums>, 'spend_usd' | 'rejected_spend_usd'> {
  readonly cost_pico_usd: string
  readonly rejected_pico_usd: string
}

/** One row of a report; the present members depend on the list. */
export interface ReportRow extends SumsRow {
  readonly list: 'total' | 'day' | 'owner' | 'model'
  readonly day: string
  readonly owner_kind: OwnerId['kind']
  readonly owner_id: string
  readonly model_key: string
  readonly resolved_model_key: string
}

/** The lists of a report. `daily` has every day of the window. */
export function reportLists(rows: readonly ReportRow[], window: Window) {
  const of = (list: ReportRow['list']) => rows.filter((row) => row.list === list)
  const days = new Map(of('day').map((row) => [row.day, wireSums(row)]))
  const daily = Array.from({ length: window.end - window.start }, (_, n) => {
    const day = dayText(window.start + n)
    return { day, ...(days.get(day) ?? wireSums(nothing)) }
  })
  return {
    days: daily.length,
    window_start: startOfDay(window.start).toISOString(),
    window_end: startOfDay(window.end).toISOString(),
    totals: wireSums(of('total')[0] ?? nothing),
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

function wireSums(row: SumsRow) {
  return asView(Sums, {
    ...row,
    spend_usd: usd(BigInt(row.cost_pico_usd)),
    rejected_spend_usd: usd(BigInt(row.rejected_pico_usd)),
  })
}

/** Sums of a day without requests. */
const nothing = {
  ...Object.fromEntries(Object.keys(sums).map((name) => [name, 0])),
  cost_pico_usd: '0',
  rejected_pico_usd: '0',
} as SumsRow
