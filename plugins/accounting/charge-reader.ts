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
  /** Those of `chargeSums`, with a space between two. */
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

/** Requests that have no charge. */
interface Uncharged {
  readonly unpriced: string
  readonly usageMissing: string
}

export interface Charges extends Uncharged {
  /**
   * In a stable order, and of the same moment as the counts. They are read from the database as they
   * are read here, except for the first few thousand; to leave them gives its connection back.
   */
  readonly rows: ReadableStream<readonly ChargeRow[]>
}

/** So many are read at once, so that they leave connections to the requests of callers. */
const AT_ONCE = 2
/** So many days are added up at once. */
const DAYS_AT_ONCE = 5
const ROWS_AT_ONCE = 1000
/** So often as many wait here to be read. Few have more, and keep a connection until they are read. */
const TIMES_AHEAD = 8
/** What is not read by then breaks off: it keeps a connection, and the database from cleaning up. */
const TIME_LIMIT_MS = 600_000

export function createChargeReader(
  { sql, schema }: Pick<Database, 'sql' | 'schema'>,
  timeLimitMs = TIME_LIMIT_MS,
) {
  const turns = createTurns(AT_ONCE)

  /** All of one moment; ends early when `write` rejects. */
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
          // To abort the writer would wait until somebody has read what it is writing.
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
