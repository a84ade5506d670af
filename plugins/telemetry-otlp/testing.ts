import type { ExchangeRecord } from 'model-gateway/observer'
import { noTags } from '../../kernel/lifecycle/tags.ts'
import type { ExportSettings } from './export-environment.ts'

/** Settings of an export that tests begin and end by hand. */
export function settings(changes: Partial<ExportSettings>): ExportSettings {
  return {
    tracesUrl: undefined,
    metricsUrl: undefined,
    exportIntervalMs: 60_000,
    traceSampleRatio: 1,
    resource: { 'service.name': 'test' },
    headers: {},
    connection: () => ({ compress: false }),
    ...changes,
  }
}

/** A successful chat call, for tests to change. */
export function exchange(changes: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    requestId: 'r',
    receivedAt: new Date(),
    operation: 'chat_completions',
    surface: 'chat_completions',
    path: '/v1/chat/completions',
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
