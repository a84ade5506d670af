import { instantSql } from '../../_shared/instant.ts'
import type { Frame } from '../_shared/frame.ts'
import { accounting, boundsOf, inFrame, type Reader } from '../_shared/store.ts'

const tokens = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const

export type Usage = { readonly request_count: number } & {
  readonly [name in (typeof tokens)[number]]: number
}

export interface OwnUsage {
  readonly totals: Usage
  /** Without half days that have no requests. */
  readonly series: (Usage & { readonly bucket_start: string })[]
  readonly models: (Usage & { readonly model_key: string })[]
}

interface Row extends Usage {
  readonly bucket_start: string | null
  readonly model_key: string | null
}

const sql = `
  select ${instantSql('bucket_start')} as bucket_start, resolved_model_key as model_key,
    coalesce(sum(requests), 0)::float8 as request_count,
    ${tokens.map((name) => `coalesce(sum(${name}), 0)::float8 as ${name}`).join(', ')}
  from "${accounting}".usage_rollups
  where ${inFrame} and owner_kind = $3 and owner_id = $4 and requests > 0
  group by grouping sets ((), (bucket_start), (resolved_model_key))
  order by sum(requests) desc, resolved_model_key collate "C"`

/** Sums of the ledger rows of one owner. */
export async function readUsage(
  reader: Reader,
  owner: { readonly kind: string; readonly id: string },
  frame: Frame,
): Promise<OwnUsage> {
  const rows = await reader.unsafe<Row[]>(sql, [...boundsOf(frame), owner.kind, owner.id])
  const series: OwnUsage['series'] = []
  const models: OwnUsage['models'] = []
  let totals: Usage | undefined
  for (const { bucket_start, model_key, ...usage } of rows) {
    if (bucket_start !== null) series.push({ bucket_start, ...usage })
    else if (model_key !== null) models.push({ model_key, ...usage })
    else totals = usage
  }
  if (totals === undefined) throw new Error('the sums of an owner returned no total')
  return { totals, series, models }
}

/** Sums of a half day without requests. */
export const noUsage = {
  request_count: 0,
  ...Object.fromEntries(tokens.map((name) => [name, 0])),
} as Usage
