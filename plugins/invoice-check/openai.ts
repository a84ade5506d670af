import { ONE } from './amounts.ts'
import { amountOf, type Format, less, tokensOf } from './format.ts'
import { ALL_MODELS, type Bucket, type Line, type Row, readPeriod, requireUsd } from './line.ts'

const vendor = 'OpenAI'
const periodOf = (row: Row) => readPeriod(row, 'start_time', 'end_time')

/** Usage of completions or embeddings: the export of the dashboard, and pages of the usage API. */
export const openaiUsage: Format = {
  id: 'openai-usage',
  title: 'OpenAI usage, the CSV of the dashboard or pages of /v1/organization/usage',
  vendor,
  columns: ['start_time', 'num_model_requests', 'input_tokens'],
  charges: false,
  places: { cost: 12, quantity: 0 },
  read(row) {
    const period = periodOf(row)
    const input = tokensOf(row, 'input_tokens')
    if (input === undefined) return [{ ...period, kind: 'nothing' }]
    const usage = {
      ...period,
      kind: 'usage',
      model: row('model') || ALL_MODELS,
      ...tierOf(row('batch').toLowerCase() === 'true' ? 'batch' : row('service_tier')),
    } as const
    const cached = tokensOf(row, 'input_cached_tokens')
    const written = tokensOf(row, 'input_cache_write_tokens')
    const lines: Line[] =
      cached === undefined
        ? [{ ...usage, bucket: 'prompt', quantity: input }]
        : [
            { ...usage, bucket: 'input', quantity: less(less(input, cached), written) },
            { ...usage, bucket: 'cache_read', quantity: cached },
          ]
    if (cached !== undefined && written !== undefined) {
      lines.push({ ...usage, bucket: 'cache_write', quantity: written })
    }
    const output = tokensOf(row, 'output_tokens')
    if (output !== undefined) lines.push({ ...usage, bucket: 'output', quantity: output })
    const requests = amountOf(row, 'num_model_requests')
    if (requests !== undefined) lines.push({ ...usage, requests: requests.scaled / ONE })
    return lines
  },
}

/** `priority | gpt-5.6, cached input, long context`, `gpt-image-1 image, output`. */
const LINE_ITEM =
  /^(?:([\w ]+) \| )?([^,|]+?)(?: (?:text|audio|image))?, (input|output|cached input|cache writes)(?:, (.+))?$/
const buckets: Readonly<Record<string, Bucket>> = {
  input: 'input',
  output: 'output',
  'cached input': 'cache_read',
  'cache writes': 'cache_write',
}

/** Costs: the export of the dashboard, and pages of the costs API. */
export const openaiCosts: Format = {
  id: 'openai-costs',
  title: 'OpenAI costs, the CSV of the dashboard or pages of /v1/organization/costs',
  vendor,
  columns: ['start_time', 'amount_value'],
  charges: true,
  places: { cost: 12, quantity: 0 },
  read(row) {
    const period = periodOf(row)
    const cost = amountOf(row, 'amount_value')
    if (cost === undefined) return [{ ...period, kind: 'nothing' }]
    requireUsd(row, 'amount_currency')
    const item = row('line_item')
    if (item === '') return [{ ...period, kind: 'usage', model: ALL_MODELS, cost }]
    const [match, tier = '', model = '', direction = '', condition = ''] =
      LINE_ITEM.exec(item) ?? []
    const bucket = buckets[direction]
    if (match === undefined || bucket === undefined) {
      return [{ ...period, kind: 'fee', label: item, cost }]
    }
    const isTokens = ['', 'tokens'].includes(row('quantity_unit').toLowerCase())
    const quantity = isTokens ? tokensOf(row, 'quantity') : undefined
    return [
      {
        ...period,
        kind: 'usage',
        model,
        bucket,
        cost,
        ...(quantity === undefined ? {} : { quantity }),
        ...tierOf([tier, condition].filter(Boolean).join(', ')),
      },
    ]
  },
}

/** Empty for the standard tier. */
function tierOf(tier: string): { readonly tier?: string } {
  return ['', 'default', 'standard', 'auto'].includes(tier.toLowerCase()) ? {} : { tier }
}
