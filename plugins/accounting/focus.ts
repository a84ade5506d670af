import type { Directory } from 'model-gateway/identity'
import { usd } from '../_shared/money.ts'
import type { ChargeRow, Charges } from './charge-reader.ts'
import { cell, csvRow } from './csv.ts'
import { ownerName } from './owner-names.ts'
import { startText, utcDay, windowOf } from './window.ts'

/** FOCUS columns in the order of its specification, then those of the gateway's own. */
const columns: readonly (readonly [name: string, value: string | ((charge: Charge) => string)])[] =
  [
    ['BilledCost', ({ cost }) => cost],
    ['BillingAccountId', 'model-gateway'],
    ['BillingAccountName', 'Model gateway'],
    ['BillingCurrency', 'USD'],
    ['BillingPeriodEnd', ({ period }) => period.billingEnd],
    ['BillingPeriodStart', ({ period }) => period.billingStart],
    ['ChargeCategory', 'Usage'],
    ['ChargeClass', ''],
    ['ChargeDescription', ({ description }) => description],
    ['ChargeFrequency', 'Usage-Based'],
    ['ChargePeriodEnd', ({ period }) => period.end],
    ['ChargePeriodStart', ({ period }) => period.start],
    ['ConsumedQuantity', ({ total }) => total],
    ['ConsumedUnit', 'Tokens'],
    ['ContractedCost', ({ cost }) => cost],
    ['EffectiveCost', ({ cost }) => cost],
    ['InvoiceIssuerName', ({ provider }) => provider],
    ['ListCost', ({ cost }) => cost],
    ['PricingCategory', 'Standard'],
    ['PricingQuantity', ({ total }) => total],
    ['PricingUnit', 'Tokens'],
    ['ProviderName', ({ provider }) => provider],
    ['PublisherName', ({ provider }) => provider],
    ['ResourceId', ({ model }) => model],
    ['ResourceName', ({ model }) => model],
    ['ResourceType', 'Model'],
    ['ServiceCategory', 'AI and Machine Learning'],
    ['ServiceName', ({ provider }) => provider],
    ['SkuId', ({ sku }) => sku],
    ['SubAccountId', ({ account }) => account],
    ['SubAccountName', ({ name }) => name],
    ['x_owner_kind', ({ kind }) => kind],
    ['x_owner_id', ({ owner }) => owner],
    ['x_provider_key', ({ provider }) => provider],
    ['x_upstream_model', ({ model }) => model],
    ['x_pricing_status', ({ status }) => status],
    ['x_request_count', ({ requests }) => requests],
    ['x_prompt_tokens', ({ prompt }) => prompt],
    ['x_completion_tokens', ({ completion }) => completion],
    ['x_cache_read_tokens', ({ cacheRead }) => cacheRead],
    ['x_cache_write_tokens', ({ cacheWrite }) => cacheWrite],
    ['x_reasoning_tokens', ({ reasoning }) => reasoning],
  ]
const values = columns.map(([, value]) => value)

const head = csvRow(columns.map(([name]) => name))

/** A FOCUS file of charges, as they are read. */
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
  // Nothing was charged.
  if (text !== '') yield text
}

/** Cells of a charge; what is made of text from elsewhere is made harmless here, once. */
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
      name: cell(ownerName({ kind, id: ownerId }, directory) ?? ''),
      provider: cell(providerKey),
      model: cell(upstreamModel),
      sku: cell(`${providerKey}/${upstreamModel}`),
      description: cell(`Model calls to ${providerKey}/${upstreamModel}`),
      status,
      cost: usd(BigInt(cost)),
      ...{ requests, prompt, completion, total, cacheRead, cacheWrite, reasoning },
    }
  }
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
