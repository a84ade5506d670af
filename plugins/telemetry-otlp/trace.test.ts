import { afterEach, describe, expect, test } from 'bun:test'
import { metrics, trace } from '@opentelemetry/api'
import type { Follower, ObservedRequest } from 'model-gateway/observer'
import { pino } from 'pino'
import { startOtlpReceiver } from '../../test/harness/otlp.ts'
import { startTelemetry } from './otel.ts'
import { attempt, exchange, settings } from './testing.ts'
import { createTracing } from './trace.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const CALL = {
  provider: {
    id: 'p',
    type: 'wire',
    pricingProviderId: undefined,
    timeouts: { totalMs: 1, idleMs: 1 },
    maxResponseBytes: 1,
  },
  operation: 'chat_completions',
  upstreamModel: 'u',
} as const

function request(traceparent?: string): ObservedRequest {
  return {
    requestId: 'r',
    receivedAt: new Date(),
    startedAt: performance.now(),
    header: (name) => (name === 'traceparent' ? (traceparent ?? null) : null),
  }
}

const receivers: ReturnType<typeof startOtlpReceiver>[] = []
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop()
})

async function tracing(traceSampleRatio: number) {
  const receiver = startOtlpReceiver()
  receivers.push(receiver)
  const { observers, stop } = await startTelemetry(
    settings({ tracesUrl: `${receiver.url}/v1/traces`, traceSampleRatio }),
    pino({ enabled: false }),
  )
  const trace = (request: ObservedRequest) => observers[0]?.observe(request) as Required<Follower>
  return { receiver, telemetry: { trace, stop } }
}

describe('a traceparent that is not valid', () => {
  const invalid = [
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  ]
  test('starts a new trace with tracing', async () => {
    const { telemetry } = await tracing(1)
    for (const header of invalid) {
      const sent = telemetry.trace(request(header)).providerCalled(CALL)
      expect(sent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
      expect(sent).not.toContain(TRACE)
    }
    await telemetry.stop()
  })
})

test('one of a later version of the standard is accepted', async () => {
  const { telemetry } = await tracing(0)
  const sent = telemetry.trace(request(`01-${TRACE}-${SPAN}-03-more`)).providerCalled(CALL)
  expect(sent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  await telemetry.stop()
})

test('the ratio applies to traces that start here, the caller decides about others', async () => {
  const { telemetry, receiver } = await tracing(0.5)
  const run = (header?: string) => {
    const traced = telemetry.trace(request(header))
    const sent = traced.providerCalled(CALL)
    traced.finished(exchange())
    return sent?.endsWith('-01')
  }
  const kept = Array.from({ length: 400 }, () => run()).filter(Boolean).length
  expect(kept).toBeGreaterThan(140)
  expect(kept).toBeLessThan(260)
  const always = Array.from({ length: 50 }, () => run(`00-${TRACE}-${SPAN}-01`))
  expect(always).not.toContain(false)
  const never = Array.from({ length: 50 }, () => run(`00-${TRACE}-${SPAN}-00`))
  expect(never).not.toContain(true)
  await telemetry.stop()
  expect(receiver.spans.filter(({ kind }) => kind === 'server')).toHaveLength(kept + 50)
})

test('a call that its provider did not send has no span', async () => {
  const { telemetry, receiver } = await tracing(1)
  const traced = telemetry.trace(request())
  traced.providerCalled(CALL)
  traced.finished(exchange({ attempts: [], outcome: 'invalid_request', statusCode: 400 }))
  await telemetry.stop()
  expect(receiver.spans).toMatchObject([{ kind: 'server', failed: false }])
})

test("a provider's 4xx marks only the provider span as an error", async () => {
  const { telemetry, receiver } = await tracing(1)
  const failed = { ...attempt, status: 'provider_error', upstreamStatus: 400 } as const
  // The last one is a stream that started normally.
  const statuses = [400, 429, 502, 200]
  for (const statusCode of statuses) {
    const traced = telemetry.trace(request())
    traced.providerCalled(CALL)
    traced.finished(exchange({ outcome: 'upstream_error', statusCode, attempts: [failed] }))
  }
  await telemetry.stop()
  const failures = (kind: string) =>
    receiver.spans.filter((span) => span.kind === kind).map((span) => span.failed)
  expect(failures('client')).toEqual([true, true, true, true])
  expect(failures('server')).toEqual([false, false, true, true])
})

test('a request has its method', async () => {
  const { telemetry, receiver } = await tracing(1)
  telemetry.trace(request()).finished(exchange())
  await telemetry.stop()
  expect(receiver.spans[0]?.attributes['http.request.method']).toBe('POST')
})

test('only values that look like a code are exported of an upstream error', async () => {
  const { telemetry, receiver } = await tracing(1)
  for (const code of ['overloaded', 'sk-12345', 'Prompt: hello']) {
    const traced = telemetry.trace(request())
    traced.providerCalled(CALL)
    traced.finished(
      exchange({
        outcome: 'upstream_error',
        errorCode: code,
        errorMessage: 'secret words',
        attempts: [
          { ...attempt, status: 'stream_error', errorCode: code, errorMessage: 'secret words' },
        ],
      }),
    )
  }
  await telemetry.stop()
  expect(receiver.spans.map(({ attributes }) => attributes['error.type'])).toEqual([
    ...['overloaded', 'overloaded'],
    ...['upstream_error', 'upstream_error', 'upstream_error', 'upstream_error'],
  ])
  expect(receiver.bodies.join()).not.toContain('secret')
})

test('plugins get real instruments after the start, and none after the stop', async () => {
  const { telemetry, receiver } = await tracing(1)
  trace.getTracer('plugin.a').startSpan('work').end()
  await telemetry.stop()
  expect(receiver.spans).toMatchObject([{ scope: 'plugin.a', name: 'work', kind: 'internal' }])
  expect(trace.getTracer('plugin.a').startSpan('late').isRecording()).toBe(false)
  expect(metrics.getMeter('plugin.a')).toBe(metrics.getMeter('plugin.b'))
})

test('an unknown model is not exported', () => {
  const spans: string[] = []
  const follow = createTracing({ sampleRatio: 1, add: (span) => void spans.push(span) })
  follow(request()).finished(exchange({ requestedModel: 'made-up', resolvedModel: undefined }))
  expect(spans).toHaveLength(1)
  expect(spans[0]).not.toContain('made-up')
  follow(request()).finished(exchange({ requestedModel: 'nick', resolvedModel: 'm' }))
  expect(spans[1]).toContain('"nick"')
})
