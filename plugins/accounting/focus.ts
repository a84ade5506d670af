import type { Directory } from 'model-gateway/plugin'
import { csv } from './csv.ts'
import { usd } from './money.ts'
import { ownerName } from './owner-names.ts'
import type { ChargeRow } from './report-store.ts'
import { startOfDay, utcDay, windowOf } from './window.ts'

/** FOCUS columns in the order of its specification, then those of the gateway's own. */
const columns: readonly (readonly [name: string, value: (charge: Charge) => string])[] = [
  ['BilledCost', ({ cost }) => cost],
  ['BillingAccountId', () => 'model-gateway'],
  ['BillingAccountName', () => 'Model gateway'],
  ['BillingCurrency', () => 'USD'],
  ['BillingPeriodEnd', ({ month }) => instant(month.end)],
  ['BillingPeriodStart', ({ month }) => instant(month.start)],
  ['ChargeCategory', () => 'Usage'],
  ['ChargeClass', () => ''],
  ['ChargeDescription', ({ row }) => `Model calls to ${row.provider_key}/${row.upstream_model}`],
  ['ChargeFrequency', () => 'Usage-Based'],
  ['ChargePeriodEnd', ({ day }) => instant(day + 1)],
  ['ChargePeriodStart', ({ day }) => instant(day)],
  ['ConsumedQuantity', ({ row }) => row.total_tokens],
  ['ConsumedUnit', () => 'Tokens'],
  ['ContractedCost', ({ cost }) => cost],
  ['EffectiveCost', ({ cost }) => cost],
  ['InvoiceIssuerName', ({ row }) => row.provider_key],
  ['ListCost', ({ cost }) => cost],
  ['PricingCategory', () => 'Standard'],
  ['PricingQuantity', ({ row }) => row.total_tokens],
  ['PricingUnit', () => 'Tokens'],
  ['ProviderName', ({ row }) => row.provider_key],
  ['PublisherName', ({ row }) => row.provider_key],
  ['ResourceId', ({ row }) => row.upstream_model],
  ['ResourceName', ({ row }) => row.upstream_model],
  ['ServiceCategory', () => 'AI and Machine Learning'],
  ['ServiceName', ({ row }) => row.provider_key],
  ['SkuId', ({ row }) => `${row.provider_key}/${row.upstream_model}`],
  ['SubAccountId', ({ row }) => `${row.owner_kind}:${row.owner_id}`],
  ['SubAccountName', ({ name }) => name],
  ['x_owner_kind', ({ row }) => row.owner_kind],
  ['x_owner_id', ({ row }) => row.owner_id],
  ['x_provider_key', ({ row }) => row.provider_key],
  ['x_upstream_model', ({ row }) => row.upstream_model],
  ['x_pricing_status', ({ row }) => row.pricing_status],
  ['x_request_count', ({ row }) => row.requests],
  ['x_prompt_tokens', ({ row }) => row.prompt_tokens],
  ['x_completion_tokens', ({ row }) => row.completion_tokens],
  ['x_cache_read_tokens', ({ row }) => row.cache_read_tokens],
  ['x_cache_write_tokens', ({ row }) => row.cache_write_tokens],
  ['x_reasoning_tokens', ({ row }) => row.reasoning_tokens],
]

interface Charge {
  readonly row: ChargeRow
  readonly cost: string
  readonly name: string
  readonly day: number
  readonly month: { readonly start: number; readonly end: number }
}

/** Charges as a FOCUS file. */
export function focusCsv(rows: readonly ChargeRow[], directory: Directory): string {
  const charges = rows.map((row): Charge => {
    const day = utcDay(new Date(row.day))
    return {
      row,
      cost: usd(BigInt(row.cost_pico_usd)),
      name: ownerName({ kind: row.owner_kind, id: row.owner_id }, directory) ?? '',
      day,
      month: windowOf('monthly', day),
    }
  })
  return csv([
    columns.map(([name]) => name),
    ...charges.map((charge) => columns.map(([, value]) => value(charge))),
  ])
}

function instant(day: number): string {
  return startOfDay(day).toISOString().replace('.000Z', 'Z')
}
