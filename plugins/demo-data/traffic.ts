import { type Lane, NULL } from './lanes.ts'
import { type LedgerSums, type Status, statuses } from './tally.ts'
import { harnesses } from './world.ts'

/** Buffered lines for COPY. */
export interface Lines {
  ledger: string
  rejected: string
  logs: string
  attempts: string
  tags: string
  payloads: string
}

/** Columns of each table that follow the prepared columns of a lane. */
export const ledgerColumns = [
  'event_id',
  'request_id',
  'rate_id',
  'pricing_status',
  'unpriced_reason',
  'usage_doubt',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_pico_usd',
  'line_items',
  'dispatched_at',
  'occurred_at',
  'utc_day',
]
export const logColumns = [
  'id',
  'occurred_at',
  'request_id',
  'stream',
  'metadata_json',
  'latency_ms',
  'exposed_tool_count',
  'invoked_tool_count',
  'has_payload',
  'status_code',
  'outcome',
  'error_code',
  'error_message',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'pricing_status',
  'cost_pico_usd',
]
export const childColumns = ['request_log_id', 'occurred_at', 'request_id']
export const attemptColumns = [
  'status',
  'started_at',
  'latency_ms',
  'first_byte_ms',
  'upstream_status',
  'error_code',
  'error_message',
]

const HALF_DAY_MS = 43_200_000
const DAY_MS = 2 * HALF_DAY_MS
/** One in this many requests has a payload. */
const PAYLOAD_EVERY = 100

/** An outcome of requests, with its cumulative share. */
interface Ending {
  readonly upTo: number
  readonly kind: 'success' | 'rejected' | 'failed' | 'abort' | 'refused' | 'no_budget'
  /** `status_code`, `outcome`, `error_code`, `error_message` */
  readonly log: string
  /** `status`; then `upstream_status`, `error_code`, `error_message` */
  readonly attempt: readonly [status: string, rest: string] | undefined
}

const ok = ['success', `200\t${NULL}\t${NULL}`] as const
const failure = (status: number, code: string, message: string, upstream: number | string) =>
  ({
    log: `${status}\tupstream_error\t${code}\t${message}`,
    attempt: ['provider_error', `${upstream}\t${code}\t${message}`],
  }) as const
const success = `200\tsuccess\t${NULL}\t${NULL}`
const endings: readonly Ending[] = [
  { upTo: 0.962, kind: 'success', log: success, attempt: ok },
  // Served, but rejected by a hard limit.
  { upTo: 0.9625, kind: 'rejected', log: success, attempt: ok },
  {
    upTo: 0.971,
    kind: 'abort',
    log: `200\tclient_abort\t${NULL}\t${NULL}`,
    attempt: ['client_abort', `200\t${NULL}\t${NULL}`],
  },
  { upTo: 0.978, kind: 'failed', ...failure(529, 'upstream_http_error', 'overloaded', 529) },
  { upTo: 0.983, kind: 'failed', ...failure(429, 'upstream_http_error', 'slow down', 429) },
  { upTo: 0.985, kind: 'failed', ...failure(504, 'upstream_timeout', 'no reply in time', NULL) },
  { upTo: 0.986, kind: 'failed', ...failure(502, 'upstream_transport', 'connection lost', NULL) },
  {
    upTo: 0.994,
    kind: 'refused',
    log: '400\tinvalid_request\tinvalid_request\tthe model does not support tools',
    attempt: undefined,
  },
  {
    upTo: 1,
    kind: 'no_budget',
    log: '429\tbudget_error\tbudget_exceeded\tthe budget is used up',
    attempt: undefined,
  },
]
const nullUsage = Array.from({ length: 6 }, () => NULL).join('\t')

/**
 * Writes the lines of one request dispatched at `dispatched`, and adds it to the sums of its lane.
 */
export function writeRequest(
  lines: Lines,
  lane: Lane,
  dispatched: number,
  random: () => number,
): void {
  const { model } = lane
  const draw = random()
  const ending = endings.find(({ upTo }) => draw < upTo) ?? (endings[0] as Ending)
  const { kind, attempt } = ending
  const dayStart = Math.floor(dispatched / DAY_MS) * DAY_MS
  // A skewed distribution: half of the requests are faster than usual, and few are much slower.
  const slowness = attempt === undefined ? 0.002 : 0.4 + random() + 3 * random() ** 6
  const latency = Math.min(
    Math.round(model.usualLatencyMs * slowness),
    dayStart + DAY_MS - 1 - dispatched,
  )
  const occurred = dispatched + latency
  const half = dispatched - dayStart < HALF_DAY_MS ? 0 : 1
  const occurredHalf = occurred - dayStart < HALF_DAY_MS ? 0 : 1
  const at = new Date(occurred).toISOString()
  const started = new Date(dispatched).toISOString()
  const requestId = Bun.randomUUIDv7('hex', dispatched)
  const logId = Bun.randomUUIDv7('hex', occurred)
  const embeddings = model.operation === 'embeddings'
  const stream = !embeddings && random() < 0.7 ? 1 : 0

  let usage = nullUsage
  let billing = `${NULL}\t${NULL}`
  const used = kind === 'success' || kind === 'rejected' || kind === 'abort'
  const unknown = used && kind !== 'rejected' && random() < (kind === 'abort' ? 0.3 : 0.008)
  if (used) {
    const prompt = unknown ? 0 : Math.max(1, Math.round(model.usualPrompt * 2 * random() ** 2))
    const cacheRead = embeddings || random() < 0.4 ? 0 : Math.floor(prompt * 0.8 * random())
    const output = unknown ? 0 : Math.round(model.usualOutput * 2 * random())
    const reasoning = model.operation === 'responses' ? Math.floor(output / 3) : 0
    const status: Status = unknown
      ? 'usage_missing'
      : model.rates === undefined
        ? 'unpriced'
        : kind === 'abort'
          ? 'legacy_estimated'
          : 'priced'
    const cost = costOf(lane, prompt - cacheRead, cacheRead, output)
    const charged = status === 'priced' || status === 'legacy_estimated'
    const items = charged ? itemsOf(lane, prompt - cacheRead, cacheRead, output) : NULL
    const rejected = kind === 'rejected' && charged
    if (!unknown) {
      usage = `${prompt}\t${output}\t${prompt + output}\t${cacheRead}\t0\t${reasoning}`
    }
    if (!rejected) billing = `${status}\t${charged ? cost : NULL}`
    const counts = unknown
      ? Array.from({ length: 7 }, () => NULL).join('\t')
      : `${prompt}\t${output}\t${prompt + output}\t${prompt - cacheRead}\t${cacheRead}\t0\t${reasoning}`
    const line = `${lane.ledgerText}\t${Bun.randomUUIDv7('hex', occurred)}\t${requestId}\t${
      charged ? 'demo' : NULL
    }\t${status}\t${status === 'unpriced' ? 'model_not_found' : NULL}\t${
      status === 'legacy_estimated' ? 'client_abort' : NULL
    }\t${counts}\t${charged ? cost : NULL}\t${items}\t${started}\t${at}\t${started.slice(0, 10)}`
    if (rejected) lines.rejected += `${line}\tbudget_exceeded\n`
    else lines.ledger += `${line}\n`
    const sums = lane.ledger[half * statuses.length + statuses.indexOf(status)] as LedgerSums
    if (rejected) {
      sums.rejectedCount += 1
      sums.rejected += cost
    } else {
      sums.requests += 1
      if (!unknown) {
        sums.prompt += prompt
        sums.completion += output
        sums.uncached += prompt - cacheRead
        sums.cacheRead += cacheRead
        sums.reasoning += reasoning
      }
      if (charged) sums.cost += cost
    }
  }

  const exposed = embeddings ? NULL : lane.tools ? 8 + Math.floor(random() * 20) : 0
  const invoked = embeddings ? NULL : lane.tools && used ? Math.floor(random() * 4) : 0
  const harness = lane.harness[occurredHalf]
  if (harness !== undefined) {
    harness.requests += 1
    if (typeof exposed === 'number') {
      harness.exposed += exposed
      harness.exposedRequests += 1
    }
    if (typeof invoked === 'number') {
      harness.invoked += invoked
      harness.invokedRequests += 1
    }
  }

  const withPayload = random() * PAYLOAD_EVERY < 1
  const child = `${logId}\t${at}\t${requestId}`
  lines.logs += `${kind === 'refused' ? lane.refusedText : lane.logText}\t${child}\t${
    stream === 1
  }\t${lane.metadata[stream]}\t${latency}\t${exposed}\t${invoked}\t${withPayload}\t${ending.log}\t${usage}\t${billing}\n`
  if (attempt !== undefined) {
    const firstByte = kind === 'failed' ? NULL : Math.floor(latency * (stream === 1 ? 0.2 : 0.95))
    lines.attempts += `${lane.attemptText}\t${child}\t${attempt[0]}\t${started}\t${latency}\t${firstByte}\t${attempt[1]}\n`
  }
  for (const tag of lane.tags) lines.tags += `${child}\t${tag}\n`
  if (withPayload) lines.payloads += `${child}\t${payloadOf(lane)}\n`
}

function costOf({ model }: Lane, uncached: number, cacheRead: number, output: number): number {
  if (model.rates === undefined) return 0
  const { input, cacheRead: cached, output: out } = model.rates
  return uncached * input + cacheRead * cached + output * out
}

/** The line items of the cost, as the ledger stores them. */
function itemsOf({ model }: Lane, uncached: number, cacheRead: number, output: number): string {
  const { rates } = model
  if (rates === undefined) return '[]'
  const items = [
    ['input', uncached, String(rates.input)],
    ['cache_read', cacheRead, String(rates.cacheRead)],
    ['output', output, String(rates.output)],
  ]
  return JSON.stringify(items.filter(([, quantity]) => quantity !== 0))
}

function payloadOf({ model, owner }: Lane): string {
  const content = 'Please summarise the open points of the last meeting in five lines.'
  const request = {
    headers: { authorization: '[redacted]', 'user-agent': harnesses[owner.harness].userAgent },
    body: { model: model.modelKey, messages: [{ role: 'user', content }] },
  }
  const message = { role: 'assistant', content: 'Three points are open: budget, hiring, launch.' }
  const response = { body: { object: 'chat.completion', choices: [{ index: 0, message }] } }
  return `${JSON.stringify(request)}\t${JSON.stringify(response)}`
}
