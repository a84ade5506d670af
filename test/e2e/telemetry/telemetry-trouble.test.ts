import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { eventually, startTestGateway } from '../../harness/gateway.ts'
import { type OtlpReceiver, type ReceiverMode, startOtlpReceiver } from '../../harness/otlp.ts'
import type { GatewayProcess } from '../../harness/process.ts'
import { paced, startUpstream, type Upstream } from '../../harness/upstream.ts'
import { chat, ofMetric, send, startGateway, telemetryConfig, total } from './telemetry.fixture.ts'

/** Calls whose median time is compared. */
const CALLS = 100

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(async () => {
  await upstream?.stop()
})

/** Milliseconds that one call takes. */
async function timeOf(gateway: GatewayProcess): Promise<number> {
  const at = performance.now()
  const response = await send(gateway, {})
  expect(response.status).toBe(200)
  await response.text()
  return performance.now() - at
}

const median = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number

const others = Object.keys(builtins).filter((name) => name !== 'telemetry-otlp')
test.each([
  ['an endpoint', {}],
  ['the plugin', { plugins: others.map((name) => ({ use: `builtin:${name}` })) }],
])(
  'without %s the trace context of the caller is sent upstream unchanged',
  async (_, sections) => {
    upstream.clear()
    const gateway = await startTestGateway({ ...telemetryConfig(upstream, {}), ...sections })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await (await send(gateway, { headers: { traceparent } })).text()
    await (await send(gateway, { headers: { traceparent: 'nonsense' } })).text()
    await gateway.stop()
    const sent = upstream.journal.calls.map(({ headers }) => headers.traceparent)
    expect(sent).toEqual([traceparent, undefined])
  },
  20_000,
)

test('with OTEL_SDK_DISABLED nothing is exported and nothing is logged', async () => {
  const receiver = startOtlpReceiver()
  const gateway = await startGateway(
    upstream,
    { otel_endpoint: receiver.url },
    { OTEL_SDK_DISABLED: 'TRUE' },
  )
  await (await send(gateway, {})).text()
  // A gateway that ends exports what is left.
  expect(await gateway.end('SIGTERM')).toBe(0)
  expect(receiver.bodies).toEqual([])
  expect(gateway.logs.filter(({ component }) => component === 'telemetry')).toEqual([])
  await gateway.remove()
  await receiver.stop()
}, 20_000)

describe('while the collector', () => {
  let undisturbed: GatewayProcess
  beforeAll(async () => {
    undisturbed = await startGateway(upstream, {})
  }, 30_000)
  afterAll(() => undisturbed?.remove())

  async function expectNoDelay(gateway: GatewayProcess) {
    const [without, withTrouble]: [number[], number[]] = [[], []]
    // Alternating, so that other load on the machine slows both gateways.
    for (let i = 0; i < CALLS; i++) {
      without.push(await timeOf(undisturbed))
      withTrouble.push(await timeOf(gateway))
    }
    expect(median(withTrouble)).toBeLessThan(median(without) * 2 + 3)
  }

  async function expectQuickEnd(gateway: GatewayProcess) {
    const at = performance.now()
    expect(await gateway.end('SIGTERM')).toBe(0)
    expect(performance.now() - at).toBeLessThan(3000)
  }

  const said = (gateway: GatewayProcess) =>
    gateway.logs.filter(({ component }) => component === 'telemetry')
  const lost = { msg: 'telemetry was lost', reason: expect.any(String) }

  const troubles: [string, ReceiverMode | 'gone'][] = [
    ['is gone', 'gone'],
    ['never answers', 'never_answers'],
  ]
  test.each(troubles)(
    '%s, calls are not delayed and the gateway ends within three seconds',
    async (_, trouble) => {
      const receiver = startOtlpReceiver()
      if (trouble === 'gone') await receiver.stop()
      else receiver.mode(trouble)
      upstream.clear()
      const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
      const gateway = await startGateway(upstream, server)
      try {
        await expectNoDelay(gateway)
        await expectQuickEnd(gateway)
        expect(said(gateway)).toMatchObject([lost])
      } finally {
        await gateway.remove()
        await receiver.stop()
      }
    },
    30_000,
  )

  test('fails, calls are not delayed; the log says when it works again', async () => {
    const receiver = startOtlpReceiver()
    receiver.mode('fails')
    upstream.clear()
    const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
    const gateway = await startGateway(upstream, server)
    const logged = (msg: string) =>
      eventually(async () => said(gateway).find((line) => line.msg === msg), 10_000)
    try {
      await expectNoDelay(gateway)
      await logged('telemetry was lost')
      receiver.mode('takes')
      await logged('telemetry export works again')
      expect(total(ofMetric(receiver, 'gateway.requests'))).toBe(CALLS)
      receiver.mode('fails')
      await expectQuickEnd(gateway)
      // At most one loss is logged per minute.
      expect(said(gateway)).toMatchObject([lost, { msg: 'telemetry export works again' }])
    } finally {
      await gateway.remove()
      await receiver.stop()
    }
  }, 30_000)

  test('is not configured, the gateway ends at once', async () => {
    const at = performance.now()
    expect(await undisturbed.end('SIGTERM')).toBe(0)
    expect(performance.now() - at).toBeLessThan(1500)
  }, 20_000)
})

describe('a gateway that receives SIGTERM', () => {
  let receiver: OtlpReceiver
  let gateway: GatewayProcess
  beforeAll(async () => {
    receiver = startOtlpReceiver()
    gateway = await startGateway(
      upstream,
      { otel_endpoint: receiver.url, shutdown_grace_secs: 10 },
      {
        OTEL_SERVICE_NAME: 'gateway-eu',
        OTEL_RESOURCE_ATTRIBUTES:
          'deployment.environment.name=a%20b, service.instance.id=pod-1,service.name=other,odd,a"b=c',
      },
    )
  }, 30_000)
  afterAll(async () => {
    await gateway?.remove()
    await receiver?.stop()
  })

  const ready = async () => {
    const response = await fetch(`${gateway.url}/readyz`, { headers: { connection: 'close' } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test('is no longer ready, lets a running stream finish and exports its telemetry', async () => {
    upstream.clear()
    upstream.always(paced(20, 100))
    const before = await ready()
    expect(before.status).toBe(200)
    expect(before.body).toMatchObject({
      status: 'ok',
      config_version: expect.any(String),
      database: 'reachable',
      migrations: 'current',
      checks: { identity: { status: 'ok' } },
    })
    const stream = await send(gateway, { body: { ...chat, stream: true } })
    const text = stream.text()
    const ended = gateway.end('SIGTERM')
    const during = await eventually(async () => {
      const now = await ready()
      return now.status === 200 ? undefined : now
    })
    expect(during).toMatchObject({ status: 503, body: { status: 'draining' } })
    expect(await text).toEndWith('data: [DONE]\n\n')
    expect(await ended).toBe(0)
    expect(receiver.spans.map(({ kind }) => kind).sort()).toEqual(['client', 'server'])
    expect(total(ofMetric(receiver, 'gateway.requests'))).toBe(1)
  }, 30_000)

  test('exports spans and metrics with the resource attributes of the environment', () => {
    const stated = {
      'service.name': 'gateway-eu',
      'service.version': expect.any(String),
      'service.instance.id': 'pod-1',
      'deployment.environment.name': 'a b',
      'a"b': 'c',
    }
    expect(receiver.spans[0]?.resource).toEqual(stated)
    expect(receiver.points[0]?.resource).toMatchObject(stated)
  })
})
