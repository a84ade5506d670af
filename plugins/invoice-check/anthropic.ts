import type { Amount } from './amounts.ts'
import { amountOf, type Format, tokensOf } from './format.ts'
import {
  ALL_MODELS,
  type Bucket,
  InvoiceError,
  type Line,
  type Row,
  readDays,
  readPeriod,
  requireUsd,
  shown,
} from './line.ts'

const vendor = 'Anthropic'

/** Token columns of a usage report by bucket; both kinds of cache writes are one bucket. */
function usageLines(
  usage: Omit<Extract<Line, { kind: 'usage' }>, 'bucket' | 'quantity'>,
  row: Row,
  columns: readonly (readonly [bucket: Bucket, column: string])[],
): readonly Line[] {
  const lines = columns.flatMap(([bucket, column]) => {
    const quantity = tokensOf(row, column)
    return quantity === undefined ? [] : [{ ...usage, bucket, quantity }]
  })
  return lines.length === 0 ? [{ start: usage.start, end: usage.end, kind: 'nothing' }] : lines
}

/** Pages of the usage reports of the Admin API. */
export const anthropicUsage: Format = {
  id: 'anthropic-usage',
  title: 'Anthropic usage, pages of /v1/organizations/usage_report/messages',
  vendor,
  columns: ['starting_at', 'uncached_input_tokens', 'output_tokens'],
  charges: false,
  places: { cost: 12, quantity: 0 },
  read(row) {
    const usage = {
      ...readPeriod(row, 'starting_at', 'ending_at'),
      kind: 'usage',
      model: row('model') || ALL_MODELS,
      ...conditions(row('service_tier'), row('context_window'), row('speed')),
    } as const
    return usageLines(usage, row, [
      ['input', 'uncached_input_tokens'],
      ['cache_read', 'cache_read_input_tokens'],
      ['cache_write', 'cache_creation_ephemeral_5m_input_tokens'],
      ['cache_write', 'cache_creation_ephemeral_1h_input_tokens'],
      ['output', 'output_tokens'],
    ])
  },
}

/** The usage export of the Console. */
export const anthropicUsageCsv: Format = {
  id: 'anthropic-usage-csv',
  title: 'Anthropic usage, the CSV of the Console',
  vendor,
  columns: [
    'usage_date_utc',
    'model_version',
    'usage_input_tokens_no_cache',
    'usage_output_tokens',
  ],
  charges: false,
  places: { cost: 12, quantity: 0 },
  read(row) {
    const usage = {
      ...readDays(row, 'usage_date_utc'),
      kind: 'usage',
      model: row('model_version') || ALL_MODELS,
      ...conditions(row('usage_type'), row('context_window'), row('speed')),
    } as const
    return usageLines(usage, row, [
      ['input', 'usage_input_tokens_no_cache'],
      ['cache_read', 'usage_input_tokens_cache_read'],
      ['cache_write', 'usage_input_tokens_cache_write_5m'],
      ['cache_write', 'usage_input_tokens_cache_write_1h'],
      ['output', 'usage_output_tokens'],
    ])
  },
}

const tokenTypes: Readonly<Record<string, Bucket>> = {
  uncached_input_tokens: 'input',
  input_no_cache: 'input',
  output_tokens: 'output',
  output: 'output',
  cache_read_input_tokens: 'cache_read',
  input_cache_read: 'cache_read',
  'cache_creation.ephemeral_5m_input_tokens': 'cache_write',
  'cache_creation.ephemeral_1h_input_tokens': 'cache_write',
  input_cache_write_5m: 'cache_write',
  input_cache_write_1h: 'cache_write',
}

/** Pages of the cost reports of the Admin API, whose amounts are cents. */
export const anthropicCosts: Format = {
  id: 'anthropic-costs',
  title: 'Anthropic costs, pages of /v1/organizations/cost_report',
  vendor,
  columns: ['starting_at', 'amount', 'currency'],
  charges: true,
  places: { cost: 7, quantity: 0 },
  read(row) {
    requireUsd(row, 'currency')
    const period = readPeriod(row, 'starting_at', 'ending_at')
    const cents = amountOf(row, 'amount')
    if (cents === undefined) return [{ ...period, kind: 'nothing' }]
    return costLines(period, row, inUsd(cents), row('cost_type'))
  },
}

function inUsd(cents: Amount): Amount {
  const scaled = cents.scaled / 100n
  return { scaled, places: cents.places + 2, cut: cents.cut || cents.scaled % 100n !== 0n }
}

/** The cost export of the Console, in cents for each row. */
export const anthropicCostsCsv: Format = {
  id: 'anthropic-costs-csv',
  title: 'Anthropic costs, the CSV of the Console',
  vendor,
  columns: ['usage_date_utc', 'token_type', 'cost_usd'],
  charges: true,
  places: { cost: 2, quantity: 0 },
  read(row) {
    const cost = amountOf(row, 'cost_usd')
    const type = row('cost_type') === 'token' ? 'tokens' : row('cost_type')
    return cost === undefined ? [] : costLines(readDays(row, 'usage_date_utc'), row, cost, type)
  },
}

function costLines(
  period: { readonly start: number; readonly end: number },
  row: Row,
  cost: Amount,
  type: string,
): readonly Line[] {
  const model = row('model')
  if (type !== '' && type !== 'tokens') {
    return [{ ...period, kind: 'fee', label: row('description') || type, cost }]
  }
  const usage = { ...period, kind: 'usage', cost } as const
  const tokenType = row('token_type')
  if (model === '' || tokenType === '') {
    return [{ ...usage, model: model || ALL_MODELS }]
  }
  const bucket = tokenTypes[tokenType]
  if (bucket === undefined) {
    throw new InvoiceError(
      `token_type must be one of ${Object.keys(tokenTypes).join(', ')}, got ${shown(tokenType)}`,
    )
  }
  const tier = row('service_tier') || row('usage_type')
  return [{ ...usage, model, bucket, ...conditions(tier, row('context_window'), row('speed')) }]
}

/** Conditions that differ from the standard price, as text. */
function conditions(tier: string, context: string, speed: string): { readonly tier?: string } {
  const words = [
    ['', 'standard', 'message'].includes(tier) ? '' : tier,
    // `200k-1M`, `> 200k`; `0-200k` and `≤ 200k` are the standard.
    /^(?:200k|>)/i.test(context) ? 'long context' : '',
    ['', 'standard'].includes(speed) ? '' : speed,
  ].filter((word) => word !== '')
  return words.length === 0 ? {} : { tier: words.join(', ') }
}
