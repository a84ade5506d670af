import type { Static } from 'model-gateway/plugin'
import type { PricingSection } from './config.ts'
import { picoUsdPerToken } from './money.ts'
import { type RateName, rateNames, type SnapshotModels, type SnapshotRow } from './snapshot.ts'

/** What a model costs for some time. */
export interface ModelRate {
  /** Hash of everything else in here: the same on every replica and after every restart. */
  readonly id: string
  readonly pricingProviderId: string
  readonly model: string
  readonly source: 'snapshot' | 'override'
  /** Pico-USD per token. */
  readonly perToken: Readonly<Record<RateName, bigint | undefined>>
  /** Rates that are known for prompts of up to `longestPrompt` tokens only. */
  readonly tiered: readonly string[]
  readonly longestPrompt: number | undefined
  /** What is sold beside text at a rate that is not among these. */
  readonly apart: readonly string[]
  /** Days, UTC, from inclusive to exclusive. */
  readonly from: string | undefined
  readonly until: string | undefined
  /** The same in milliseconds, open ends infinite. */
  readonly fromMs: number
  readonly untilMs: number
}

/** Pricing provider id → model → rates of different times. */
export type Catalog = ReadonlyMap<string, ReadonlyMap<string, readonly ModelRate[]>>

type Snapshot = Readonly<Record<string, SnapshotModels>>
type Overrides = Static<typeof PricingSection>['overrides']

export function buildCatalog(snapshot: Snapshot): Catalog {
  const catalog = new Map<string, ReadonlyMap<string, readonly ModelRate[]>>()
  for (const [provider, models] of Object.entries(snapshot)) {
    const rates = Object.entries(models).map(
      ([model, rows]) =>
        [model, rows.map((row) => modelRate(provider, model, 'snapshot', row))] as const,
    )
    catalog.set(provider, new Map(rates))
  }
  return catalog
}

/** The catalog with overrides; each replaces all that is known of its model. */
export function withOverrides(catalog: Catalog, overrides: Overrides): Catalog {
  const result = new Map(catalog)
  for (const override of overrides) {
    const { pricing_provider_id: provider, model } = override
    const row: SnapshotRow = {}
    for (const name of rateNames) row[name] = override[`${name}_usd_per_million`]
    const models = new Map(result.get(provider))
    result.set(provider, models.set(model, [modelRate(provider, model, 'override', row)]))
  }
  return result
}

function modelRate(
  pricingProviderId: string,
  model: string,
  source: ModelRate['source'],
  row: SnapshotRow,
): ModelRate {
  const perToken = {
    input: rate(row.input),
    output: rate(row.output),
    cache_read: rate(row.cache_read),
    cache_write: rate(row.cache_write),
  }
  const tiered = row.tiered ?? []
  const content = [
    pricingProviderId,
    model,
    source,
    ...Object.values(perToken).map(String),
    tiered.join(),
    row.from,
    row.until,
    ...(row.longest_prompt === undefined ? [] : [row.longest_prompt]),
  ]
  return {
    id: new Bun.CryptoHasher('sha256').update(content.join('\0')).digest('hex').slice(0, 32),
    pricingProviderId,
    model,
    source,
    perToken,
    tiered,
    longestPrompt: row.longest_prompt,
    apart: row.apart ?? [],
    from: row.from,
    until: row.until,
    fromMs: row.from === undefined ? -Infinity : Date.parse(row.from),
    untilMs: row.until === undefined ? Infinity : Date.parse(row.until),
  }
}

function rate(usdPerMillion: string | undefined): bigint | undefined {
  return usdPerMillion === undefined ? undefined : picoUsdPerToken(usdPerMillion)
}
