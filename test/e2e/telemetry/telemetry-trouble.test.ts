import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { eventually } from '../../harness/gateway.ts'
import { type ReceiverMode, startOtlpReceiver } from '../../harness/otlp.ts'
import type { GatewayProcess } from '../../harness/process.ts'
import { paced, startUpstream, type Upstream } from '../../harness/upstream.ts'
import { chat, ofMetric, send, startGateway, total } from './telemetry.fixture.ts'

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
  'without %s the trace context of the caller goes upstream as it is',
  async (_, sections) => {
    upstream.clear()
    const gateway = await startGateway(upstream, {}, {}, sections)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await (await send(gateway, { headers: { traceparent } })).text()
    await (await send(gateway, { headers: { traceparent: 'nonsense' } })).text()
    await gateway.remove()
    const sent = upstream.journal.calls.map(({ headers }) => headers.traceparent)
    expect(sent).toEqual([traceparent, undefined])
  },
  20_000,
)

test('with the SDK disabled by the environment nothing is exported, and nothing is said of it', async () => {
  const receiver = startOtlpReceiver()
  const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
  const gateway = await startGateway(upstream, server, { OTEL_SDK_DISABLED: 'TRUE' })
  await (await send(gateway, {})).text()
  await Bun.sleep(1500)
  expect(await gateway.end('SIGTERM')).toBe(0)
  expect(receiver.bodies).toEqual([])
  expect(gateway.logs.filter(({ component }) => component === 'telemetry')).toEqual([])
  await gateway.remove()
  await receiver.stop()
}, 20_000)

test('what the environment says of the resource stands in spans and metrics alike', async () => {
  const receiver = startOtlpReceiver()
  const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
  const gateway = await startGateway(upstream, server, {
    OTEL_SERVICE_NAME: 'gateway-eu',
    OTEL_RESOURCE_ATTRIBUTES:
      'deployment.environment.name=a%20b, service.instance.id=pod-1,service.name=other,odd,a"b=c',
  })
  await (await send(gateway, {})).text()
  expect(await gateway.end('SIGTERM')).toBe(0)
  const stated = {
    'service.name': 'gateway-eu',
    'service.version': expect.any(String),
    'service.instance.id': 'pod-1',
    'deployment.environment.name': 'a b',
    'a"b': 'c',
  }
  const [span] = receiver.spans
  const [point] = receiver.points
  expect(span?.resource).toEqual(stated)
  expect(point?.resource).toMatchObject(stated)
  await gateway.remove()
  await receiver.stop()
}, 20_000)

describe('a collector that is', () => {
  let undisturbed: GatewayProcess
  beforeAll(async () => {
    undisturbed = await startGateway(upstream, {})
  }, 30_000)
  afterAll(() => undisturbed?.remove())

  const troubles: [string, ReceiverMode | 'gone'][] = [
    ['gone', 'gone'],
    ['silent', 'never_answers'],
    ['out of order', 'fails'],
  ]
  test.each(troubles)(
    '%s costs the callers nothing, and the end two seconds',
    async (_, trouble) => {
      const receiver = startOtlpReceiver()
      if (trouble === 'gone') await receiver.stop()
      else receiver.mode(trouble)
      upstream.clear()
      const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
      const gateway = await startGateway(upstream, server)
      try {
        // In turn, because whatever else the machine does then slows both.
        const [without, withTrouble]: [number[], number[]] = [[], []]
        for (let i = 0; i < 250; i++) {
          without.push(await timeOf(undisturbed))
          withTrouble.push(await timeOf(gateway))
        }
        expect(median(withTrouble)).toBeLessThan(median(without) * 2 + 3)
        const at = performance.now()
        expect(await gateway.end('SIGTERM')).toBe(0)
        expect(performance.now() - at).toBeLessThan(3000)
        const lines = gateway.logs.filter(({ component }) => component === 'telemetry')
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatchObject({ msg: 'telemetry was lost', reason: expect.any(String) })
      } finally {
        await gateway.remove()
        await receiver.stop()
      }
    },
    30_000,
  )
})

test('the log says when a collector is back, and nothing has to be started again', async () => {
  const receiver = startOtlpReceiver()
  receiver.mode('fails')
  upstream.clear()
  const server = { otel_endpoint: receiver.url, otel_export_interval_secs: 1 }
  const gateway = await startGateway(upstream, server)
  const said = (msg: string) =>
    eventually(async () => gateway.logs.find((line) => line.msg === msg), 10_000)
  await (await send(gateway, {})).text()
  await said('telemetry was lost')
  receiver.mode('takes')
  expect(await said('telemetry export works again')).toMatchObject({ component: 'telemetry' })
  expect(total(ofMetric(receiver, 'gateway.requests'))).toBe(1)
  await gateway.remove()
  await receiver.stop()
}, 30_000)

describe('a gateway that is told to end', () => {
  const ready = async (gateway: GatewayProcess) => {
    const response = await fetch(`${gateway.url}/readyz`, { headers: { connection: 'close' } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test('says so to those who watch, and lets a running stream finish', async () => {
    const receiver = startOtlpReceiver()
    const gateway = await startGateway(upstream, {
      otel_endpoint: receiver.url,
      shutdown_grace_secs: 10,
    })
    upstream.clear()
    upstream.always(paced(20, 100))
    const before = await ready(gateway)
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
    await Bun.sleep(200)
    const during = await ready(gateway)
    expect(during).toMatchObject({ status: 503, body: { status: 'draining' } })
    expect(await text).toEndWith('data: [DONE]\n\n')
    expect(await ended).toBe(0)
    expect(receiver.spans.map(({ kind }) => kind).sort()).toEqual(['client', 'server'])
    expect(total(ofMetric(receiver, 'gateway.requests'))).toBe(1)
    await gateway.remove()
    await receiver.stop()
  }, 30_000)

  test('is not held up when nobody watches', async () => {
    const gateway = await startGateway(upstream, {})
    const at = performance.now()
    expect(await gateway.end('SIGTERM')).toBe(0)
    expect(performance.now() - at).toBeLessThan(1500)
    await gateway.remove()
  }, 20_000)
})
