import type { Amount } from './amounts.ts'
import { amountOf, type Format, tokensOf } from './format.ts'
import {
  type Bucket,
  InvoiceError,
  type Line,
  type Period,
  type Quantity,
  readPeriod,
  requireUsd,
  shown,
} from './line.ts'

const vendor = 'AWS'

/** The Cost and Usage Report 2.0 of AWS Data Exports. */
export const awsCur: Format = {
  id: 'aws-cur',
  title: 'AWS CUR 2.0, a CSV of Data Exports, for its lines of Amazon Bedrock',
  vendor,
  columns: [
    'line_item_usage_start_date',
    'line_item_usage_type',
    'line_item_usage_amount',
    'line_item_unblended_cost',
  ],
  charges: true,
  places: { cost: 10, quantity: 10 },
  read(row) {
    const product = productName(row('product'))
    const codes = [row('line_item_product_code'), row('product_servicecode')]
    if (!codes.some(isBedrock) && !isEdition(product)) return []
    requireUsd(row, 'line_item_currency_code')
    const cost = amountOf(row, 'line_item_unblended_cost')
    const type = row('line_item_line_item_type')
    const isUsage = ['', 'Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage'].includes(type)
    const isPaid = ['Fee', 'RIFee', 'SavingsPlanRecurringFee'].includes(type)
    return chargeLines({
      period: readPeriod(row, 'line_item_usage_start_date', 'line_item_usage_end_date'),
      cost,
      apart: isUsage || isPaid ? undefined : `${type} of ${product || 'Amazon Bedrock'}`,
      product,
      usageType: row('line_item_usage_type'),
      description: row('line_item_line_item_description'),
      quantity: (unit) => tokensOf(row, 'line_item_usage_amount', unit),
      unit: row('pricing_unit'),
    })
  },
}

/** FOCUS as AWS exports it. */
export const awsFocus: Format = {
  id: 'aws-focus',
  title: 'FOCUS, a CSV of AWS Data Exports, for its lines of Amazon Bedrock',
  vendor,
  columns: ['chargeperiodstart', 'billedcost', 'chargecategory', 'servicename'],
  charges: true,
  places: { cost: 10, quantity: 10 },
  read(row) {
    const service = row('servicename')
    if (![service, row('x_servicecode')].some(isBedrock) && !isEdition(service)) return []
    requireUsd(row, 'billingcurrency')
    const category = row('chargecategory')
    const isCharge = category === 'Usage' || category === 'Purchase'
    const priced = row('pricingquantity') !== ''
    return chargeLines({
      period: readPeriod(row, 'chargeperiodstart', 'chargeperiodend'),
      cost: amountOf(row, 'billedcost'),
      apart: isCharge ? undefined : `${category} of ${service}`,
      product: service,
      usageType: row('x_usagetype') || row('skumeter') || row('chargedescription'),
      description: row('chargedescription'),
      quantity: (unit) => tokensOf(row, priced ? 'pricingquantity' : 'consumedquantity', unit),
      unit: priced ? row('pricingunit') : row('consumedunit'),
    })
  },
}

function isBedrock(code: string): boolean {
  return /^Amazon ?Bedrock/i.test(code)
}

/** Third-party models are sold on AWS Marketplace, each as a separate product. */
function isEdition(product: string): boolean {
  return product.includes('(Amazon Bedrock Edition)')
}

/** `product` is a map; in CSV it is JSON or similar. */
function productName(map: string): string {
  return /"?(?:product_name|servicename)"?\s*[:=]\s*"?([^",}]+)/.exec(map)?.[1]?.trim() ?? ''
}

interface Charge {
  readonly period: Period
  readonly cost: Amount | undefined
  /** If set: not a usage charge; the text describes it. */
  readonly apart: string | undefined
  readonly product: string
  readonly usageType: string
  readonly description: string
  readonly quantity: (unit: Quantity['unit']) => Quantity | undefined
  readonly unit: string
}

function chargeLines(charge: Charge): readonly Line[] {
  const { period, cost, apart, product, usageType } = charge
  if (cost === undefined) return []
  if (apart !== undefined) return [{ ...period, kind: 'apart', label: apart, cost }]
  const meter = readMeter(usageType, product)
  if (meter === undefined) {
    const label = isEdition(product) ? `${usageType} of ${edition(product)}` : usageType
    return [{ ...period, kind: 'fee', label, cost }]
  }
  const { model, bucket, tier } = meter
  const quantity = charge.quantity(unitOf(charge))
  return [
    {
      ...period,
      kind: 'usage',
      model,
      bucket,
      cost,
      ...(quantity === undefined ? {} : { quantity }),
      ...(tier === '' ? {} : { tier }),
    },
  ]
}

interface Meter {
  readonly model: string
  readonly bucket: Bucket
  readonly tier: string
}

/** `USE1-Claude4.6Sonnet-cache-read-input-token-count-cross-region-global`. */
const METER =
  /^(?:[A-Z]{2,4}\d?-)?(.+?)-(?:mantle-)?(?:text-)?(cache-read-input|cache-write-input|input|output)-token(?:s|-count)(?:-(.+))?$/
/** `USE1-MP:USE1_CacheReadInputTokenCount_Global-Units`, `USE1-MP:USE1_input_tokens_standard-Units`. */
const MARKETPLACE = /^(?:[A-Z]{2,4}\d?-)?MP:(?:[A-Z]{2,4}\d?_)?(.+?)(?:-Units)?$/

/** Undefined if it does not count tokens. */
function readMeter(usageType: string, product: string): Meter | undefined {
  const sold = MARKETPLACE.exec(usageType)?.[1]
  if (sold !== undefined) return readMarketplace(sold, product)
  const [, model, kind = '', condition = ''] = METER.exec(usageType) ?? []
  if (model === undefined) return undefined
  const bucket = kind.startsWith('cache-read')
    ? 'cache_read'
    : kind.startsWith('cache-write')
      ? 'cache_write'
      : (kind as 'input' | 'output')
  return { model, bucket, tier: condition === 'standard' ? '' : condition.replaceAll('-', ' ') }
}

function readMarketplace(name: string, product: string): Meter | undefined {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
  if (!words.some((word) => word.startsWith('token')) || words.includes('reserved'))
    return undefined
  const cache = words.includes('cache')
  const bucket =
    cache && words.includes('read')
      ? 'cache_read'
      : cache
        ? 'cache_write'
        : words.includes('output') || words.includes('response')
          ? 'output'
          : 'input'
  const usual =
    /^(?:input|output|response|cache|read|write|(?:write)?\d+[hm]|tokens?|count|standard)$/
  return {
    model: edition(product),
    bucket,
    tier: words.filter((word) => !usual.test(word)).join(' '),
  }
}

function edition(product: string): string {
  return product.replace(/\s*\(Amazon Bedrock Edition\)/, '')
}

/** Tokens are counted by the thousand, on Marketplace by the million. */
function unitOf({ unit, description, usageType }: Charge): Quantity['unit'] {
  if (/^1?K|^1,?000 |thousand/i.test(unit)) return 1_000
  if (/^1?M|million/i.test(unit)) return 1_000_000
  if (/^tokens?$/i.test(unit)) return 1
  if (/million/i.test(description)) return 1_000_000
  if (/thousand|\b1K\b/i.test(description)) return 1_000
  if (MARKETPLACE.test(usageType)) return 1_000_000
  if (unit === '' || /^units?$/i.test(unit)) return 1_000
  throw new InvoiceError(`the unit of ${shown(usageType)} must be of tokens, got ${shown(unit)}`)
}
