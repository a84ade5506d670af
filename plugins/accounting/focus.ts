import type { Directory } from 'model-gateway/identity'
import { usd } from '../_shared/money.ts'
import type { ChargeRow, Charges } from './charge-reader.ts'
import { cell, csvRow } from './csv.ts'
import { ownerName } from './owner-names.ts'
import { startText, utcDay, windowOf } from './window.ts'

/** The FOCUS version of the columns below. FOCUS 1.4 removes `ProviderName` and `PublisherName`. */
export const FOCUS_VERSION = '1.3'

type Value = string | ((charge: Charge) => string)

/** FOCUS columns with values; docs/focus.md explains each value. */
const known: Readonly<Record<string, Value>> = {
  BilledCost: ({ cost }) => cost,
  BillingAccountId: 'model-gateway',
  BillingAccountName: 'Model gateway',
  BillingAccountType: 'Gateway',
  BillingCurrency: 'USD',
  BillingPeriodEnd: ({ period }) => period.billingEnd,
  BillingPeriodStart: ({ period }) => period.billingStart,
  ChargeCategory: 'Usage',
  ChargeDescription: ({ description }) => description,
  ChargeFrequency: 'Usage-Based',
  ChargePeriodEnd: ({ period }) => period.end,
  ChargePeriodStart: ({ period }) => period.start,
  ConsumedQuantity: ({ quantity }) => quantity,
  ConsumedUnit: 'Tokens',
  ContractedCost: ({ cost }) => cost,
  EffectiveCost: ({ cost }) => cost,
  HostProviderName: ({ provider }) => provider,
  InvoiceIssuerName: ({ provider }) => provider,
  ListCost: ({ cost }) => cost,
  PricingCategory: 'Standard',
  PricingCurrency: 'USD',
  PricingCurrencyEffectiveCost: ({ cost }) => cost,
  PricingQuantity: ({ quantity }) => quantity,
  PricingUnit: 'Tokens',
  ProviderName: ({ provider }) => provider,
  PublisherName: ({ provider }) => provider,
  ResourceId: ({ model }) => model,
  ResourceType: 'Model',
  ServiceCategory: 'AI and Machine Learning',
  ServiceName: ({ provider }) => provider,
  ServiceProviderName: ({ provider }) => provider,
  ServiceSubcategory: 'Generative AI',
  SkuId: ({ sku }) => sku,
  SkuMeter: 'Tokens',
  SkuPriceId: ({ sku }) => sku,
  SubAccountId: ({ account }) => account,
  SubAccountName: ({ name }) => name,
  SubAccountType: ({ kind }) => ACCOUNT_TYPES[kind],
}

/** FOCUS columns without values, for readers that expect a fixed table. */
const empty = `AllocatedMethodDetails AllocatedMethodId AllocatedResourceId AllocatedResourceName
  AllocatedTags AvailabilityZone CapacityReservationId CapacityReservationStatus ChargeClass
  CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName CommitmentDiscountQuantity
  CommitmentDiscountStatus CommitmentDiscountType CommitmentDiscountUnit ContractApplied
  ContractedUnitPrice InvoiceId ListUnitPrice PricingCurrencyContractedUnitPrice
  PricingCurrencyListUnitPrice RegionId RegionName ResourceName SkuPriceDetails Tags`.split(/\s+/)

/** Columns that the gateway adds. */
const own: Readonly<Record<string, Value>> = {
  x_focus_version: FOCUS_VERSION,
  x_owner_kind: ({ kind }) => kind,
  x_owner_id: ({ owner }) => owner,
  x_provider_key: ({ provider }) => provider,
  x_upstream_model: ({ model }) => model,
  x_pricing_status: ({ status }) => status,
  x_request_count: ({ requests }) => requests,
  x_prompt_tokens: ({ prompt }) => prompt,
  x_completion_tokens: ({ completion }) => completion,
  x_cache_read_tokens: ({ cacheRead }) => cacheRead,
  x_cache_write_tokens: ({ cacheWrite }) => cacheWrite,
  x_reasoning_tokens: ({ reasoning }) => reasoning,
}

const ACCOUNT_TYPES = { user: 'User', service_account: 'Service Account' }

const columns = [...[...Object.keys(known), ...empty].sort(), ...Object.keys(own)]
const values = columns.map((name) => known[name] ?? own[name] ?? '')
const head = csvRow(columns)

/** A FOCUS file, streamed from the charges as they are read. */
export async function* focusFile(rows: Charges['rows'], directory: Directory) {
  const charge = chargeReader(directory)
  let text = head
  for await (const piece of rows) {
    for (const row of piece) {
      const of = charge(row)
      text += csvRow(values.map((value) => (typeof value === 'string' ? value : value(of))))
    }
    yield text
    text = ''
  }
  // Skips rows without a charge.
  if (text !== '') yield text
}

/** Cells of a charge. Text from other sources is escaped here, once. */
type Charge = ReturnType<ReturnType<typeof chargeReader>>

function chargeReader(directory: Directory) {
  const periods = new Map<string, ReturnType<typeof periodOf>>()
  return ([day, kind, ownerId, providerKey, upstreamModel, status, sums]: ChargeRow) => {
    const period = periods.get(day) ?? periodOf(day)
    periods.set(day, period)
    const [cost = '', requests = '', prompt = '', completion = '', total = '', ...others] =
      sums.split(' ')
    const [cacheRead = '', cacheWrite = '', reasoning = ''] = others
    return {
      period,
      kind,
      owner: cell(ownerId),
      account: cell(`${kind}:${ownerId}`),
      name: cell(ownerName({ kind, id: ownerId }, directory) ?? ownerId),
      provider: cell(providerKey),
      model: cell(upstreamModel),
      sku: cell(`${providerKey}/${upstreamModel}`),
      description: cell(`Model calls to ${providerKey}/${upstreamModel}`),
      status,
      cost: decimal(usd(BigInt(cost))),
      quantity: decimal(total),
      ...{ requests, prompt, completion, cacheRead, cacheWrite, reasoning },
    }
  }
}

/** With a decimal point, because readers that infer types take whole numbers for integers. */
function decimal(number: string): string {
  return number.includes('.') ? number : `${number}.0`
}

function periodOf(text: string) {
  const day = utcDay(new Date(text))
  const month = windowOf('monthly', day)
  return {
    start: startText(day),
    end: startText(day + 1),
    billingStart: startText(month.start),
    billingEnd: startText(month.end),
  }
}
