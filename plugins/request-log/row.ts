import type { Principal } from 'model-gateway/identity'
import type { Attempt, ExchangeRecord, RequestTags } from 'model-gateway/observer'
import { limitedBytes, limitedText } from '../_shared/safe-text.ts'
import type { AgentHarness } from './agent-harness.ts'
import type { PayloadPolicy } from './policy.ts'

/** Maximum length of caller-defined names in a row, in characters. */
const NAME_LIMIT = 512
/** Maximum length of a route id, which contains the model twice and the provider. */
const ROUTE_LIMIT = 3 * NAME_LIMIT
const USER_AGENT_LIMIT = 512
const CLIENT_ID_LIMIT = 128
const MESSAGE_LIMIT_BYTES = 2_048

/** A summary with its tags and attempts, on its way to the database, and perhaps a payload. */
export interface Row {
  /** Milliseconds since the epoch; the same time as in the row's id. */
  readonly occurredAt: number
  /** The columns, and the arrays `tags` and `attempts`. An absent member is null. */
  readonly json: string
  /** Its members `request`, `response`, `request_truncated` and `response_truncated`. */
  readonly payload: string | undefined
}

/** A row in the spool, without its payload. */
export function toRecord({ occurredAt, json }: Row): string {
  return `${occurredAt} ${json}`
}

export function fromRecord(record: string): Row {
  const at = record.indexOf(' ')
  return {
    occurredAt: Number(record.slice(0, at)),
    json: record.slice(at + 1),
    payload: undefined,
  }
}

/** Whether the log keeps a row of this caller: users can opt out, service accounts cannot. */
export function isLogged({ owner }: Principal, policy: PayloadPolicy): boolean {
  if (policy.wire.capture_mode === 'disabled') return false
  return owner.kind !== 'user' || owner.requestLoggingEnabled
}

/** An id for a row of this time: a UUIDv7. */
export function newRowId(occurredAt: number): string {
  return Bun.randomUUIDv7('hex', occurredAt)
}

/** Copies the logged values, so that a waiting row keeps nothing of the request in memory. */
export function encodeSummary(
  id: string,
  occurredAt: number,
  exchange: ExchangeRecord,
  policy: PayloadPolicy,
  harness: AgentHarness,
): string {
  const { principal, usage, settlement, userAgent, tags } = exchange
  const owner = principal?.owner
  const ledger = settlement?.kind === 'ledger' ? settlement : undefined
  return JSON.stringify({
    id,
    occurred_at: new Date(occurredAt).toISOString(),
    request_id: exchange.requestId,
    owner_kind: owner?.kind,
    user_id: owner?.kind === 'user' ? owner.userId : undefined,
    team_id: owner?.team?.id,
    service_account_id: owner?.kind === 'service_account' ? owner.serviceAccountId : undefined,
    api_key_id: principal?.apiKeyId,
    model_key: limitedText(exchange.requestedModel, NAME_LIMIT),
    resolved_model_key: limitedText(exchange.resolvedModel, NAME_LIMIT),
    provider_key: exchange.provider,
    upstream_model: limitedText(exchange.upstreamModel, NAME_LIMIT),
    operation: exchange.operation,
    stream: exchange.stream,
    status_code: exchange.statusCode,
    outcome: exchange.outcome,
    error_code: exchange.errorCode,
    error_message: limitedBytes(exchange.errorMessage, MESSAGE_LIMIT_BYTES),
    latency_ms: Math.round(exchange.latencyMs),
    prompt_tokens: usage?.promptTokens,
    completion_tokens: usage?.output,
    total_tokens: usage?.totalTokens,
    cache_read_tokens: usage?.cacheRead,
    cache_write_tokens: usage?.cacheWrite,
    reasoning_tokens: usage?.reasoning,
    pricing_status: ledger?.pricingStatus,
    // As a string, because JSON numbers above 2^53 lose precision.
    cost_pico_usd: ledger?.costPicoUsd?.toString(),
    service: tags.service,
    component: tags.component,
    env: tags.env,
    user_agent: limitedText(userAgent, USER_AGENT_LIMIT),
    agent_harness_key: harness.key,
    agent_harness_label: harness.label,
    exposed_tool_count: exchange.exposedToolCount,
    invoked_tool_count: exchange.invokedToolCount,
    config_version: exchange.configVersion,
    metadata_json: {
      operation: exchange.operation,
      api_surface: exchange.surface === exchange.operation ? undefined : exchange.surface,
      stream: exchange.stream,
      // False for calls that cost nothing; reports leave them out.
      priced: exchange.priced,
      // The choice of a tag selector, which may be an alias.
      selected_model_key:
        exchange.selectedModel === exchange.requestedModel
          ? undefined
          : limitedText(exchange.selectedModel, NAME_LIMIT),
      dropped: exchange.dropped,
      client_request_id: limitedText(exchange.clientRequestId, CLIENT_ID_LIMIT),
      payload_policy: policy.wire,
    },
    tags: encodeTags(tags),
    attempts: exchange.attempts.map(encodeAttempt),
  })
}

function encodeTags({ custom, ...universal }: RequestTags) {
  const tags = custom.map(({ key, value }) => ({ key, value }))
  for (const key of ['service', 'component', 'env'] as const) {
    const value = universal[key]
    if (value !== undefined) tags.push({ key, value })
  }
  return tags
}

function encodeAttempt(attempt: Attempt, index: number) {
  return {
    attempt_number: index + 1,
    provider_key: attempt.provider,
    provider_type: attempt.providerType,
    route_id: limitedText(attempt.routeId, ROUTE_LIMIT),
    upstream_model: limitedText(attempt.upstreamModel, NAME_LIMIT),
    status: attempt.status,
    started_at: attempt.startedAt.toISOString(),
    latency_ms: Math.round(attempt.latencyMs),
    first_byte_ms: attempt.firstByteMs === undefined ? undefined : Math.round(attempt.firstByteMs),
    upstream_status: attempt.upstreamStatus,
    upstream_request_id: attempt.upstreamRequestId,
    error_code: attempt.errorCode,
    error_message: limitedBytes(attempt.errorMessage, MESSAGE_LIMIT_BYTES),
  }
}
