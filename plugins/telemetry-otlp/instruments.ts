import type { Attributes, Meter } from '@opentelemetry/api'
import type { PricingStatus } from 'model-gateway/accounting'
import type { ExchangeRecord, ExchangeRecorder } from 'model-gateway/observer'
import type { Usage } from 'model-gateway/wire'

/** Maximum number of label values per tag; later ones are counted together. */
const MOST_TAG_VALUES = 100
/** Maximum number of model names, because a wildcard matches any number of names. */
const MOST_MODELS = 2000
/** Maximum number of label combinations; beyond it, tag labels are dropped. */
const MOST_COMBINATIONS = 4000
const OTHER = 'other'
const UNKNOWN = 'unknown'

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const TOOLS = [0, 1, 2, 4, 8, 16, 32, 64, 128]

const TOKEN_TYPES = {
  input: 'uncachedInput',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  output: 'output',
  reasoning: 'reasoning',
} as const satisfies Record<string, keyof Usage>
type TokenType = keyof typeof TOKEN_TYPES

/** Sums of requests with the same labels. */
interface RequestSeries {
  readonly labels: Attributes
  readonly consumption: ConsumptionSeries
  count: number
}

/** Sums of usage. They have fewer labels, because usage does not depend on the outcome. */
interface ConsumptionSeries {
  readonly labels: Attributes
  readonly exposedTools: Attributes
  readonly invokedTools: Attributes
  readonly tokens: Record<TokenType, number>
  readonly usageRecords: Partial<Record<PricingStatus, number>>
  costUsd: number
  failures: number
}

/**
 * The metrics of inference requests. Sums are kept here with one look-up per request, and read at
 * each export, because the SDK's counters cost several times as much.
 */
export function createInstruments(meter: Meter): ExchangeRecorder {
  const requests = new Map<string, RequestSeries>()
  const consumption = new Map<string, ConsumptionSeries>()
  const service = cappedValues(MOST_TAG_VALUES)
  const component = cappedValues(MOST_TAG_VALUES)
  const env = cappedValues(MOST_TAG_VALUES)
  const model = cappedValues(MOST_MODELS)

  const duration = meter.createHistogram('gateway.request.duration', {
    unit: 's',
    description: 'Time from the arrival of a request to the end of its reply.',
    advice: { explicitBucketBoundaries: SECONDS },
  })
  const toolCardinality = meter.createHistogram('gateway.tool_cardinality', {
    unit: '{tool}',
    description: 'Tools that a request offered, and tool calls in its reply.',
    advice: { explicitBucketBoundaries: TOOLS },
  })
  sum('gateway.requests', '{request}', 'Finished inference requests.', requests, (series, tell) =>
    tell(series.count),
  )
  sum(
    'gateway.tokens',
    '{token}',
    'Tokens used. Input excludes cache reads; output includes reasoning.',
    consumption,
    (series, tell) => {
      for (const type of Object.keys(TOKEN_TYPES) as TokenType[]) {
        if (series.tokens[type] > 0) tell(series.tokens[type], { token_type: type })
      }
    },
  )
  sum('gateway.cost.usd', '{USD}', 'Cost of priced ledger rows.', consumption, (series, tell) => {
    if (series.costUsd > 0) tell(series.costUsd)
  })
  sum('gateway.usage_records', '{row}', 'Ledger rows.', consumption, (series, tell) => {
    for (const [pricing_status, count] of Object.entries(series.usageRecords)) {
      tell(count, { pricing_status })
    }
  })
  sum(
    'gateway.usage_record_failures',
    '{request}',
    'Provider calls whose usage could not be recorded.',
    consumption,
    (series, tell) => {
      if (series.failures > 0) tell(series.failures)
    },
  )

  function sum<S extends { readonly labels: Attributes }>(
    name: string,
    unit: string,
    description: string,
    all: ReadonlyMap<string, S>,
    observe: (series: S, tell: (value: number, more?: Attributes) => void) => void,
  ) {
    meter.createObservableCounter(name, { unit, description }).addCallback((result) => {
      for (const series of all.values()) {
        observe(series, (value, more) =>
          result.observe(value, more === undefined ? series.labels : { ...series.labels, ...more }),
        )
      }
    })
  }

  function seriesOf(exchange: ExchangeRecord): RequestSeries {
    const { tags } = exchange
    const tagLabels = [service(tags.service), component(tags.component), env(tags.env)] as const
    const models = modelLabels(exchange, model)
    const key = keyOf(exchange, models, tagLabels)
    const known = requests.get(key)
    if (known !== undefined) return known
    if (requests.size < MOST_COMBINATIONS) return addSeries(key, exchange, models, tagLabels)
    const merge = (value: string | undefined) => value && OTHER
    const merged = [merge(tags.service), merge(tags.component), merge(tags.env)] as const
    const mergedKey = keyOf(exchange, models, merged)
    return requests.get(mergedKey) ?? addSeries(mergedKey, exchange, models, merged)
  }

  function addSeries(
    key: string,
    exchange: ExchangeRecord,
    models: ModelLabels,
    tags: TagLabels,
  ): RequestSeries {
    const what = labelsOf(exchange, models, tags)
    const labels = Object.freeze({
      ...what,
      stream: exchange.stream,
      status_code: exchange.statusCode,
      outcome: exchange.outcome,
    })
    const whatKey = JSON.stringify(what)
    let used = consumption.get(whatKey)
    if (used === undefined) {
      const { operation, resolved_model, provider } = what
      const tools = { operation, resolved_model, provider }
      used = {
        labels: what,
        exposedTools: Object.freeze({ ...tools, dimension: 'exposed' }),
        invokedTools: Object.freeze({ ...tools, dimension: 'invoked' }),
        tokens: { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
        usageRecords: {},
        costUsd: 0,
        failures: 0,
      }
      consumption.set(whatKey, used)
    }
    const series = { labels, consumption: used, count: 0 }
    requests.set(key, series)
    return series
  }

  return {
    record(exchange) {
      const series = seriesOf(exchange)
      const { consumption: used } = series
      series.count++
      duration.record(exchange.latencyMs / 1000, series.labels)
      if (exchange.exposedToolCount !== undefined) {
        toolCardinality.record(exchange.exposedToolCount, used.exposedTools)
      }
      if (exchange.invokedToolCount !== undefined) {
        toolCardinality.record(exchange.invokedToolCount, used.invokedTools)
      }
      addConsumption(used, exchange)
    },
  }
}

function addConsumption(series: ConsumptionSeries, exchange: ExchangeRecord): void {
  const { usage, settlement } = exchange
  if (usage !== undefined) {
    for (const type in TOKEN_TYPES) {
      const count = usage[TOKEN_TYPES[type as TokenType]]
      // Invalid counters must not decrease a sum.
      if (count !== undefined && count > 0) series.tokens[type as TokenType] += count
    }
  }
  if (settlement === undefined) {
    if (exchange.attempts.length > 0) series.failures++
  } else if (settlement.kind === 'ledger') {
    const { pricingStatus, costPicoUsd } = settlement
    series.usageRecords[pricingStatus] = (series.usageRecords[pricingStatus] ?? 0) + 1
    if (costPicoUsd !== undefined) series.costUsd += Number(costPicoUsd) / 1e12
  }
}

/** Labels for the tags service, component and env. */
type TagLabels = readonly [string | undefined, string | undefined, string | undefined]

/** The requested and the executed model. */
type ModelLabels = readonly [string, string]

/**
 * Unknown names from callers are not labels, because a caller or a wildcard could create any
 * number.
 */
function modelLabels(
  { requestedModel, resolvedModel }: ExchangeRecord,
  capped: (name: string) => string,
): ModelLabels {
  if (resolvedModel === undefined) return [UNKNOWN, UNKNOWN]
  const resolved = capped(resolvedModel)
  if (requestedModel === undefined) return [UNKNOWN, resolved]
  // Model names never start with `tag:`, and callers can write the same selector in many ways.
  return [requestedModel.startsWith('tag:') ? 'tag' : capped(requestedModel), resolved]
}

function labelsOf(
  exchange: ExchangeRecord,
  [requested_model, resolved_model]: ModelLabels,
  [service, component, env]: TagLabels,
) {
  return {
    operation: exchange.operation,
    requested_model,
    resolved_model,
    provider: exchange.provider ?? UNKNOWN,
    ...(service === undefined ? {} : { service }),
    ...(component === undefined ? {} : { component }),
    ...(env === undefined ? {} : { env }),
  }
}

/** All sources of labels, joined as a key. */
function keyOf(
  exchange: ExchangeRecord,
  [requested, resolved]: ModelLabels,
  [service = '', component = '', env = '']: TagLabels,
) {
  const { operation, provider = '', stream, statusCode, outcome } = exchange
  return `${operation}\0${requested}\0${resolved}\0${provider}\0${stream}\0${statusCode}\0${outcome}\0${service}\0${component}\0${env}`
}

/** Passes the first values, and replaces all later ones by one value. */
function cappedValues(most: number) {
  const seen = new Set<string>()
  return <V extends string | undefined>(value: V): V | typeof OTHER => {
    if (value === undefined || seen.has(value)) return value
    if (seen.size >= most) return OTHER
    seen.add(value)
    return value
  }
}
