import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import type { Directory } from 'model-gateway/identity'
import { type Clock, strictObject, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Count, Instant, nullable, oneOf, Text } from '../_shared/schema.ts'
import { ownerMembers, plainText, Usd } from './budget-wire.ts'
import { LedgerEntry, wireEntry } from './charge-wire.ts'
import { type DailyRow, type DailyStore, MOST_SERIES } from './daily-store.ts'
import { ownerName } from './owner-names.ts'
import { Days, lastDays, OwnerKind, ownerKindOf } from './spend-query.ts'
import { dayText, startOfDay, utcDay, type Window } from './window.ts'

export interface DailyRoutesOptions {
  readonly store: DailyStore
  readonly directory: () => Promise<Directory>
  readonly clock: Clock
}

const tag = 'spend'
const By = oneOf(['model', 'owner'], {
  description: 'Groups the series by requested model or by owner. Default model.',
})
const spent = { spend_usd: Usd('Sum of the ledger rows'), request_count: Count }

const Series = Type.Object({
  model_key: nullable(Text),
  owner_kind: nullable(ownerMembers.owner_kind),
  owner_id: nullable(Text),
  owner_name: nullable(Text),
  others: Type.Boolean({
    description: `true: the sum of all series after the first ${MOST_SERIES}; it has no key.`,
  }),
  ...spent,
  daily: Type.Array(Type.Object({ day: Text, ...spent })),
})

/** Routes for daily spend, and for the ledger entries of one request. */
export function dailyRoutes({ store, directory, clock }: DailyRoutesOptions): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/daily',
      audience: 'platform_admin',
      tag,
      summary:
        'Daily spend of the models or owners with the highest spend, and of all others together.',
      query: strictObject({
        by: Type.Optional(By),
        days: Type.Optional(Days),
        owner_kind: Type.Optional(OwnerKind),
      }),
      result: Type.Object({
        by: By,
        days: Count,
        window_start: Instant,
        window_end: Instant,
        series: Type.Array(Series),
      }),
      async handle({ query }) {
        const { by = 'model', days = 7, owner_kind } = query
        const window = lastDays(days, utcDay(clock.now()))
        const [rows, known] = await Promise.all([
          store.daily(by, { ...window, ownerKind: ownerKindOf(owner_kind) }),
          directory(),
        ])
        const groups = Map.groupBy(rows, ({ place }) => place)
        return {
          by,
          days,
          window_start: startOfDay(window.start).toISOString(),
          window_end: startOfDay(window.end).toISOString(),
          series: [...groups.values()].map((group) => wireSeries(group, window, known)),
        }
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/ledger-entries',
      audience: 'platform_admin',
      tag,
      summary: 'Ledger entries and rejected charges of a request, with the source of each price.',
      query: strictObject({ request_id: Type.String({ ...plainText, minLength: 1 }) }),
      result: Type.Object({ items: Type.Array(LedgerEntry) }),
      async handle({ query }) {
        const [entries, known] = await Promise.all([store.entries(query.request_id), directory()])
        return { items: entries.map((entry) => wireEntry(entry, known)) }
      },
    }),
  ]
}

function wireSeries(rows: readonly DailyRow[], window: Window, directory: Directory) {
  const [first] = rows
  const { model_key = null, owner_kind = null, owner_id = null } = first ?? {}
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return {
    model_key,
    owner_kind,
    owner_id,
    owner_name:
      owner_kind === null || owner_id === null
        ? null
        : ownerName({ kind: owner_kind, id: owner_id }, directory),
    others: first?.place === null,
    ...wireSpent(rows),
    daily: Array.from({ length: window.end - window.start }, (_, n) => {
      const day = dayText(window.start + n)
      const row = byDay.get(day)
      return { day, ...wireSpent(row === undefined ? [] : [row]) }
    }),
  }
}

function wireSpent(rows: readonly DailyRow[]) {
  return {
    spend_usd: usd(rows.reduce((sum, row) => sum + BigInt(row.cost_pico_usd), 0n)),
    request_count: rows.reduce((sum, row) => sum + Number(row.requests), 0),
  }
}
