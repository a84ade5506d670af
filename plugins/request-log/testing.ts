import type { Principal } from 'model-gateway/identity'
import type { Attempt, ExchangeRecord } from 'model-gateway/observer'
import type { JsonValue } from 'model-gateway/plugin'
import { createClassifier } from './agent-harness.ts'
import { defaultSettings, type PayloadSettings } from './config.ts'
import { encodePayload, type RawPayload } from './payload.ts'
import { type PayloadPolicy, payloadPolicy } from './policy.ts'
import { encodeSummary, newRowId, type Row } from './row.ts'

/** 2026-11-21, a little after noon. */
export const noon = new Date('2026-11-21T12:00:00.123Z')

/** The policy of a config that captures payloads. */
export function policy(changes: Partial<PayloadSettings> = {}): PayloadPolicy {
  return payloadPolicy({ ...defaultSettings, capture_mode: 'redacted_payloads', ...changes })
}

/** The result of a generator, and how often it yielded. */
export function finish<T>(steps: Generator<undefined, T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next()
    if (done) return { value, pauses }
  }
}

export interface PayloadRow {
  readonly request: { readonly [key: string]: JsonValue }
  readonly response: { readonly [key: string]: JsonValue }
  readonly request_truncated: boolean
  readonly response_truncated: boolean
}

const noRawPayload: RawPayload = {
  headers: {},
  body: undefined,
  response: { kind: 'buffered', body: {} },
  usage: undefined,
}

/** A payload as written to the database. */
export function payloadRow(raw: Partial<RawPayload>, by: PayloadPolicy = policy()): PayloadRow {
  return JSON.parse(payloadText(raw, by)) as PayloadRow
}

export function payloadText(raw: Partial<RawPayload>, by: PayloadPolicy = policy()): string {
  return `{${finish(encodePayload({ ...noRawPayload, ...raw }, by)).value}}`
}

/** A row of an exchange, with its payload. */
export function encodedRow(done: ExchangeRecord, occurredAt = noon.getTime()): Row {
  const by = policy()
  const id = newRowId(occurredAt)
  const raw: RawPayload = {
    headers: done.requestHeaders(),
    body: done.requestBody,
    response: done.response,
    usage: done.usage,
  }
  return {
    occurredAt,
    json: encodeSummary(id, occurredAt, done, by, createClassifier([])(done.userAgent)),
    payload: finish(encodePayload(raw, by)).value,
  }
}

export function user(options: { logging?: boolean; id?: string } = {}): Principal {
  const { logging = true, id = 'user-1' } = options
  return {
    apiKeyId: 'key-1',
    owner: {
      kind: 'user',
      userId: id,
      email: 'ada@example.test',
      name: 'Ada',
      team: { id: 'team-1', key: 'one' },
      requestLoggingEnabled: logging,
    },
    ownershipScopeKey: `user:${id}`,
    grants: 'all',
    allowlists: [],
  }
}

export function serviceAccount(): Principal {
  return {
    apiKeyId: 'key-2',
    owner: {
      kind: 'service_account',
      serviceAccountId: 'account-1',
      key: 'nightly',
      name: 'Nightly',
      team: { id: 'team-2', key: 'two' },
    },
    ownershipScopeKey: 'service_account:account-1',
    grants: new Set(['demo']),
    allowlists: [],
  }
}

export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    provider: 'main',
    providerType: 'generic_compat',
    routeId: 'fast/main/vendor/small',
    upstreamModel: 'vendor/small',
    startedAt: noon,
    status: 'success',
    latencyMs: 12.6,
    firstByteMs: 3.2,
    upstreamStatus: 200,
    upstreamRequestId: 'req_up',
    errorCode: undefined,
    errorMessage: undefined,
    ...changes,
  }
}

/** A successful, priced chat completion with one attempt. */
export function exchange(changes: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    requestId: Bun.randomUUIDv7(),
    tags: { service: undefined, component: undefined, env: undefined, custom: [] },
    requestHeaders: () => ({}),
    requestBody: {},
    response: { kind: 'buffered', body: {} },
    receivedAt: noon,
    operation: 'chat_completions',
    surface: 'chat_completions',
    path: '/v1/chat/completions',
    stream: false,
    configVersion: 'v1',
    principal: user(),
    requestedModel: 'fast',
    resolvedModel: 'small-model',
    provider: 'main',
    upstreamModel: 'vendor/small',
    statusCode: 200,
    outcome: 'success',
    errorCode: undefined,
    errorMessage: undefined,
    latencyMs: 14.2,
    usage: {
      uncachedInput: 90,
      cacheRead: 10,
      cacheWrite: 0,
      output: 20,
      reasoning: 5,
      promptTokens: 100,
      totalTokens: 120,
    },
    settlement: {
      kind: 'ledger',
      pricingStatus: 'priced',
      unpricedReason: undefined,
      costPicoUsd: 9_007_199_254_740_993n,
    },
    attempts: [attempt()],
    userAgent: 'codex/1.0',
    exposedToolCount: 0,
    invokedToolCount: 0,
    ...changes,
  }
}
