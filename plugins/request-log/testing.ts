import type { Attempt, ExchangeRecord, Principal } from 'model-gateway/plugin'

/** 2026-11-21, a little after noon. */
export const noon = new Date('2026-11-21T12:00:00.123Z')

export function user(options: { logging?: boolean } = {}): Principal {
  return {
    apiKeyId: 'key-1',
    owner: {
      kind: 'user',
      userId: 'user-1',
      email: 'ada@example.test',
      name: 'Ada',
      team: { id: 'team-1', key: 'one' },
      requestLoggingEnabled: options.logging ?? true,
    },
    ownershipScopeKey: 'user:user-1',
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
