import type { PricingStatus } from 'model-gateway/accounting'
import type { Database } from 'model-gateway/plugin'
import { createTurns } from '../_shared/turns.ts'
import type { OwnerId } from './owner-names.ts'
import type { Selection } from './report-store.ts'
import { startOfDay, type UtcDay } from './window.ts'

/** Charges of one day, owner, upstream and pricing status. */
export type ChargeRow = readonly [
  day: string,
  ownerKind: OwnerId['kind'],
  ownerId: string,
  providerKey: string,
  upstreamModel: string,
  pricingStatus: 'priced' | 'legacy_estimated',
  /** The sums of `chargeSums`, joined by spaces. */
  sums: string,
]

const chargeSums = [
  'cost_pico_usd',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
]

/** Numbers of requests without a charge. */
interface Uncharged {
  readonly unpriced: string
  readonly usageMissing: string
}

export interface Charges extends Uncharged {
  /**
   * Rows in a stable order, from the same snapshot as the counts. They are read from the database
   * as the consumer reads, apart from the first few thousand. If the consumer stops, the connection
   * is returned.
   */
  readonly rows: ReadableStream<readonly ChargeRow[]>
}

/** Concurrent exports, so that connections remain for callers' requests. */
const AT_ONCE = 2
/** Days that one query sums. */
const DAYS_AT_ONCE = 5
const ROWS_AT_ONCE = 1000
/** Batches that are read ahead. Most exports fit in them, and so release their connection early. */
const TIMES_AHEAD = 8
/** Time limit of an export, because it holds a connection and keeps the database from vacuuming. */
const TIME_LIMIT_MS = 600_000

export function createChargeReader(
  { sql, schema }: Pick<Database, 'sql' | 'schema'>,
  timeLimitMs = TIME_LIMIT_MS,
) {
  const turns = createTurns(AT_ONCE)

  /** Reads everything from one snapshot; stops when `write` rejects. */
  function read(
    selection: Selection,
    counted: (uncharged: Uncharged) => void,
    write: (rows: ChargeRow[]) => Promise<void>,
  ) {
    const values = selection.ownerId === undefined ? [] : [selection.ownerId]
    return sql.begin('isolation level repeatable read read only', async (tx) => {
      const [uncharged] = await tx.unsafe<[Uncharged]>(unchargedSql(schema, selection), values)
      counted(uncharged)
      for (let { start } = selection; start < selection.end; start += DAYS_AT_ONCE) {
        const days = { ...selection, start, end: Math.min(selection.end, start + DAYS_AT_ONCE) }
        await tx.unsafe(`declare charges no scroll cursor for ${chargesSql(schema, days)}`, values)
        for (;;) {
          const rows = await tx.unsafe(`fetch ${ROWS_AT_ONCE} from charges`).values()
          if (rows.length > 0) await write(rows as unknown as ChargeRow[])
          if (rows.length < ROWS_AT_ONCE) break
        }
        await tx.unsafe('close charges')
      }
    })
  }

  return async (selection: Selection): Promise<Charges> => {
    const counted = Promise.withResolvers<Uncharged>()
    let breakOff: (error: unknown) => void = counted.reject
    const { readable, writable } = new TransformStream<readonly ChargeRow[]>(
      {
        start(controller) {
          // Aborting the writer would wait until the consumer has read the pending chunk.
          breakOff = (error) => {
            counted.reject(error)
            controller.error(error)
          }
        },
      },
      undefined,
      { highWaterMark: TIMES_AHEAD },
    )
    const writer = writable.getWriter()
    void turns.run(async () => {
      const timer = setTimeout(
        breakOff,
        timeLimitMs,
        new Error('reading the charges took too long'),
      )
      try {
        await read(selection, counted.resolve, (rows) => writer.write(rows))
        writer.close().catch(() => {})
      } catch (error) {
        breakOff(error)
      } finally {
        clearTimeout(timer)
      }
    })
    const { unpriced, usageMissing } = await counted.promise
    return { rows: readable, unpriced, usageMissing }
  }
}

function chosen({ start, end, ownerKind, ownerId }: Selection): string {
  const day = (n: UtcDay) => `'${startOfDay(n).toISOString()}'::timestamptz`
  return [
    `bucket_start >= ${day(start)} and bucket_start < ${day(end)}`,
    ...(ownerKind === undefined ? [] : [`owner_kind = '${ownerKind}'`]),
    ...(ownerId === undefined ? [] : ['owner_id = $1']),
  ].join(' and ')
}

const count = (status: PricingStatus) =>
  `coalesce(sum(requests) filter (where pricing_status = '${status}'), 0)::text`

const unchargedSql = (schema: string, selection: Selection) => `
  select ${count('unpriced')} as unpriced, ${count('usage_missing')} as "usageMissing"
  from "${schema}".usage_rollups
  where ${chosen(selection)} and pricing_status in ('unpriced', 'usage_missing')`

const chargesSql = (schema: string, selection: Selection) => `
  select (bucket_start at time zone 'UTC')::date as day, owner_kind, owner_id, provider_key,
    upstream_model, pricing_status,
    concat_ws(' ', ${chargeSums.map((name) => `sum(${name})`).join(', ')}) as sums
  from "${schema}".usage_rollups
  where ${chosen(selection)} and requests > 0 and pricing_status in ('priced', 'legacy_estimated')
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6`
