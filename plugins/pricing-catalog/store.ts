import type { Database } from 'model-gateway/plugin'
import type { Catalog, ModelRate } from './catalog.ts'
import {
  addLabels,
  type Labelled,
  type PriceBook,
  type StoredPrices,
  storedPrices,
} from './labels.ts'

/**
 * Updates `model_pricing` to the catalog: adds new rates, and marks removed ones as superseded
 * instead of deleting them, because ledger rows refer to them. An unchanged catalog costs one read.
 */
export async function storeCatalog(database: Database, catalog: Catalog): Promise<void> {
  const { sql, schema } = database
  const rates = [...catalog.values()].flatMap((models) => [...models.values()].flat())
  const hash = contentHash(rates)
  const current = () => sql`select 1 from ${sql(schema)}.catalog_state where content_hash = ${hash}`
  if ((await current()).length > 0) return

  const rows = JSON.stringify(rates.map(storedRow))
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${`${schema}.model_pricing`}))`
    await tx`
      insert into ${tx(schema)}.model_pricing as known (rate_id, pricing_provider_id, model, source,
        input_pico_usd, output_pico_usd, cache_read_pico_usd, cache_write_pico_usd, context_tiers,
        prices, effective_from, effective_until)
      select rate_id, pricing_provider_id, model, source, input, output, cache_read, cache_write,
        '{}', prices, coalesce(effective_from, '-infinity'),
        coalesce(effective_until, 'infinity')
      from json_to_recordset(${rows}::text::json) as r (
        rate_id text, pricing_provider_id text, model text, source text, input bigint,
        output bigint, cache_read bigint, cache_write bigint, prices jsonb, effective_from timestamptz, effective_until timestamptz)
      on conflict (rate_id) do update set superseded_at = null where known.superseded_at is not null`
    await tx`
      update ${tx(schema)}.model_pricing set superseded_at = now()
      where superseded_at is null and rate_id not in (
        select rate_id from json_to_recordset(${rows}::text::json) as r (rate_id text))`
    await tx`
      insert into ${tx(schema)}.catalog_state (id, content_hash) values (1, ${hash})
      on conflict (id) do update set content_hash = excluded.content_hash, updated_at = now()`
  })
}

/** The last change of the bundled list; undefined if it never changed. */
export async function lastChange({ sql, schema }: Database) {
  const rows = await sql<
    { at: Date; name: string; prices: StoredPrices; from: string | null; is_old: boolean }[]
  >`
    with last as (
      select max(superseded_at) as at from ${sql(schema)}.model_pricing where source = 'snapshot')
    select last.at, pricing_provider_id || ' ' || model as name, prices, superseded_at is not null as is_old,
      case when isfinite(effective_from) then to_char(effective_from at time zone 'UTC', 'YYYY-MM-DD') end as from
    from ${sql(schema)}.model_pricing, last
    where source = 'snapshot' and (superseded_at = last.at or superseded_at is null and recorded_at = last.at)`
  const [first] = rows
  if (first === undefined) return undefined
  const book = (isOld: boolean): PriceBook => {
    const models = new Map<string, Labelled>()
    for (const { name, prices, from, is_old } of rows) {
      if (is_old !== isOld) continue
      const labelled = models.get(name) ?? new Map()
      addLabels(labelled, prices, from ?? undefined)
      models.set(name, labelled)
    }
    return models
  }
  return { at: first.at, before: book(true), after: book(false) }
}

function contentHash(rates: readonly ModelRate[]): string {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const rate of rates) hasher.update(rate.id)
  return hasher.digest('hex')
}

/** Integers as strings, because a rate may exceed the precision of JSON numbers. */
function storedRow(rate: ModelRate) {
  const { prices } = rate.usual
  return {
    rate_id: rate.id,
    pricing_provider_id: rate.pricingProviderId,
    model: rate.model,
    source: rate.source,
    input: prices.get('input')?.toString(),
    output: prices.get('output')?.toString(),
    cache_read: prices.get('cache_read')?.toString(),
    cache_write: prices.get('cache_write')?.toString(),
    prices: storedPrices(rate),
    effective_from: day(rate.from),
    effective_until: day(rate.until),
  }
}

function day(date: string | undefined): string | undefined {
  return date === undefined ? undefined : `${date}T00:00:00Z`
}
