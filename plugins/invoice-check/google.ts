import { amountOf, type Format, tokensOf } from './format.ts'
import {
  type Bucket,
  InvoiceError,
  type Line,
  type Period,
  type Row,
  readDays,
  readPeriod,
  requireUsd,
  shown,
} from './line.ts'

const vendor = 'Google Cloud'

/** The billing export to BigQuery, flat. */
export const gcpExport: Format = {
  id: 'gcp-export',
  title: 'Google Cloud billing export, a CSV of a query on its BigQuery table, for Vertex AI',
  vendor,
  columns: ['usage_start_time', 'sku_description', 'service_description', 'cost'],
  charges: true,
  places: { cost: 6, quantity: 6 },
  read(row) {
    if (!isModels(row('service_description'))) return []
    requireUsd(row, 'currency')
    const period = readPeriod(row, 'usage_start_time', 'usage_end_time')
    const lines = skuLines(row, period, 'cost', row('cost_type') || 'regular')
    const credits = amountOf(row, 'credits')
    if (credits === undefined || credits.scaled === 0n) return lines
    return [...lines, { ...period, kind: 'apart', label: 'credits', cost: credits }]
  },
}

/** The cost table of the Cloud console, of one invoice. */
export const gcpCostTable: Format = {
  id: 'gcp-cost-table',
  title: 'Google Cloud cost table, the CSV of the Cloud console, for Vertex AI',
  vendor,
  columns: ['usage_start_date', 'sku_description', 'usage_amount', 'cost'],
  charges: true,
  places: { cost: 2, quantity: 6 },
  check(before, header) {
    const currency = before.find(([name]) => name?.trim() === 'Currency')?.[1]?.trim() ?? 'USD'
    const sign =
      header.map((name) => /^Cost \((.+)\)$/i.exec(name.trim())?.[1]).find(Boolean) ?? '$'
    if (currency === 'USD' && sign === '$') return
    const found = sign === '$' ? currency : sign
    throw new InvoiceError(`costs must be in USD, got ${shown(found)}`)
  },
  note: 'days are in Pacific time: usage around midnight may be on the next or previous day',
  read(row) {
    if (!isModels(row('service_description'))) return []
    const period = readDays(row, 'usage_start_date', 'usage_end_date')
    const column = row('unrounded_cost') === '' ? 'cost' : 'unrounded_cost'
    const credit = row('credit_type')
    if (credit === '') return skuLines(row, period, column, row('cost_type').toLowerCase())
    const cost = amountOf(row, column)
    return cost === undefined ? [] : [{ ...period, kind: 'apart', label: credit, cost }]
  },
}

function isModels(service: string): boolean {
  return /vertex ai|gemini|generative language|claude|agent platform/i.test(service)
}

function skuLines(row: Row, period: Period, costColumn: string, type: string): readonly Line[] {
  const cost = amountOf(row, costColumn)
  if (cost === undefined) return []
  const sku = row('sku_description')
  if (!['', 'regular', 'usage'].includes(type)) {
    return [{ ...period, kind: 'apart', label: `${type}: ${sku}`, cost }]
  }
  const counts = /^(?:count|requests?|tokens?|)$/i.test(row('usage_unit'))
  const meter = counts ? readSku(sku, row('service_description')) : undefined
  if (meter === undefined) return [{ ...period, kind: 'fee', label: sku, cost }]
  const quantity = tokensOf(row, 'usage_amount')
  if (quantity === undefined) {
    throw new InvoiceError(`usage_amount must be the tokens of ${shown(sku)}, got nothing`)
  }
  return [{ ...period, kind: 'usage', cost, quantity, ...meter }]
}

/** Matches the text after the model name in the description of a SKU. */
const END_OF_MODEL =
  /\s*(?:[-:(,]|\b(?:GA|Global|Regional|Text|Audio|Image|Video|Input|Output|Thinking|Priority|Flex|Batch|Cach\w+|Tokens?)\b)/i
const CONDITIONS = /\b(?:Priority|Flex|Batch|Long|Global|Audio|Image|Video)\b/gi

/**
 * `Gemini 2.5 Flash GA Text Input (Long) - Predictions`. Undefined for what does not count tokens,
 * such as storage of caches and grounding.
 */
function readSku(
  sku: string,
  service: string,
): { readonly model: string; readonly bucket: Bucket; readonly tier?: string } | undefined {
  const isInput = /\binput\b/i.test(sku)
  const isOutput = /\boutput\b/i.test(sku)
  const isCache = /\bcach/i.test(sku)
  if ((!isInput && !isOutput && !isCache) || /\bstorage\b|\btuning\b|\btraining\b/i.test(sku)) {
    return undefined
  }
  const named = sku.slice(0, END_OF_MODEL.exec(sku)?.index ?? sku.length).trim()
  // Third-party models can be separate services.
  const model = named === '' && /^claude/i.test(service) ? service : named
  if (model === '') return undefined
  const bucket = isCache
    ? /\b(?:write|creation)\b/i.test(sku)
      ? 'cache_write'
      : 'cache_read'
    : isOutput
      ? 'output'
      : 'input'
  const tier = (sku.match(CONDITIONS) ?? []).join(' ').toLowerCase()
  return { model, bucket, ...(tier === '' ? {} : { tier }) }
}
