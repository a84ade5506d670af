import type { ExchangeRecord } from '../plugin/index.ts'
import { noTags } from '../wire/tags.ts'

/** A successful chat call, for tests to change. */
export function exchange(changes: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    requestId: 'r',
    receivedAt: new Date(),
    operation: 'chat_completions',
    stream: false,
    configVersion: 'v',
    principal: undefined,
    requestedModel: 'm',
    resolvedModel: 'm',
    provider: 'p',
    upstreamModel: 'u',
    statusCode: 200,
    outcome: 'success',
    errorCode: undefined,
    errorMessage: undefined,
    latencyMs: 250,
    usage: undefined,
    settlement: { kind: 'none' },
    attempts: [attempt],
    userAgent: undefined,
    tags: noTags,
    requestHeaders: () => ({}),
    requestBody: undefined,
    response: { kind: 'buffered', body: {} },
    exposedToolCount: undefined,
    invokedToolCount: undefined,
    ...changes,
  }
}

export const attempt: ExchangeRecord['attempts'][number] = {
  provider: 'p',
  providerType: 'wire',
  routeId: 'm/p/u',
  upstreamModel: 'u',
  startedAt: new Date(),
  status: 'success',
  latencyMs: 200,
  firstByteMs: 100,
  upstreamStatus: undefined,
  errorCode: undefined,
  errorMessage: undefined,
}
