import { expect, test } from 'bun:test'
import { eventually } from '../../test/harness/gateway.ts'
import {
  type ExchangeRecord,
  type Execute,
  GatewayError,
  type Middleware,
  type ModelSpec,
  type Principal,
  type RouteSpec,
  routeFlags,
  type SettlementRequest,
} from '../plugin/index.ts'
import { createCatalog } from '../routing/catalog.ts'
import { compileChains } from './compile-chains.ts'
import type { Incoming, LifecycleServices } from './exchange.ts'
import { createInference } from './inference.ts'

const capabilities = Object.fromEntries(routeFlags.map((flag) => [flag, true]))
const spec = { id: 'mine/p/up', provider: 'p', upstreamModel: 'up', priority: 1, weight: 1 }
const route = { ...spec, enabled: true, capabilities } as unknown as RouteSpec
const model = { id: 'mine', tags: [], rank: 1, routes: [route] } as unknown as ModelSpec
const owner = { kind: 'user', userId: 'u', email: 'ada@example.com', team: undefined }
const principal = { apiKeyId: 'k', owner, grants: 'all', allowlists: [] } as unknown as Principal
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const said = { model: 'up', choices: [{ message: { content: 'hi' } }], usage }
const answers: Execute = async () => ({ kind: 'buffered', body: said })

/** One call to a provider that behaves so, and what becomes of it; one of two recorders fails. */
async function call(
  execute: Execute,
  {
    middlewares = [],
    left = false,
    stranger,
  }: { middlewares?: Middleware[]; left?: boolean; stranger?: GatewayError } = {},
) {
  const records: ExchangeRecord[] = []
  const logged: string[] = []
  const settled: SettlementRequest[] = []
  let leases = 0
  const bound = { supports: [], pricing: { model: 'up' }, chat_completions: execute }
  const catalog = createCatalog(
    new Map([[model.id, model]]),
    (spec) => ({ spec, bound, capabilities: spec.capabilities }) as never,
  )
  const timeouts = { totalMs: 10_000, idleMs: 10_000 }
  const providers = new Map([['p', { id: 'p', type: 'p', timeouts }]])
  const services = {
    lease() {
      leases++
      const runtime = { configVersion: 'v1', catalog, providers }
      return { runtime, release: () => void leases-- }
    },
    identity: {
      async authenticate() {
        if (stranger !== undefined) throw stranger
        return principal
      },
    },
    accounting: {
      checkOwner() {},
      admit: () => undefined,
      async settle(request: SettlementRequest) {
        settled.push(request)
        return { kind: 'row', pricingStatus: 'priced' }
      },
      abortDrainMs: () => 0,
    },
    recorders: [
      {
        record() {
          throw new Error('full disk')
        },
      },
      { record: (exchange: ExchangeRecord) => records.push(exchange) },
    ],
    chains: compileChains(middlewares.map((middleware) => ({ plugin: 'test', middleware }))),
    chainTools: { deadlineMs: 1000, fault() {} },
    sinks: undefined,
    trace: () => ({ providerCalled: () => undefined, finished() {} }),
    random: Math.random,
    fault: (message: string) => logged.push(message),
  } as unknown as LifecycleServices
  const incoming: Incoming = {
    requestId: 'r1',
    callerChoseRequestId: true,
    refusal: undefined,
    family: 'chat_completions',
    apiSurface: undefined,
    receivedAt: new Date(),
    startedAt: performance.now(),
    header: (name) => (name === 'authorization' ? 'Bearer gwk_key' : null),
    headers: () => ({}),
    body: async () => JSON.stringify({ model: 'mine', messages: [{ role: 'user', content: '?' }] }),
    callerLeft: () => (left ? AbortSignal.abort() : new AbortController().signal),
  }
  const reply = await createInference(services)(incoming)
  const record = await eventually(async () => records[0])
  expect(logged).toEqual(['a recorder failed'])
  await eventually(async () => (leases === 0 ? 'released' : undefined))
  return { reply, record, settled }
}

const refused: Execute = async () => {
  throw new GatewayError('upstream_http_error', 'busy', {
    status: 503,
    headers: { 'retry-after': '7' },
  })
}

test('what is logged of a reply is what its caller was sent', async () => {
  const { reply, record } = await call(answers)
  const body = { ...said, model: 'mine' }
  expect(reply).toMatchObject({ status: 200, body: JSON.stringify(body) })
  expect(record).toMatchObject({
    outcome: 'success',
    attempts: [{ status: 'success' }],
    response: { kind: 'buffered', body },
  })
})

test('a key that is refused is told so that no agent asks for minutes', async () => {
  const stranger = new GatewayError('api_key_revoked', 'revoked')
  const { reply, record } = await call(answers, { stranger })
  expect(reply).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' },
  })
  expect(record).toMatchObject({ outcome: 'invalid_request', principal: undefined, attempts: [] })
})

test('a failed call whose caller has left counts as one that was left, with its attempt', async () => {
  const here = await call(refused)
  expect(here.reply).toMatchObject({ status: 503, headers: { 'retry-after': '7' } })
  expect(here.record).toMatchObject({
    outcome: 'upstream_error',
    attempts: [{ status: 'provider_error', errorCode: 'upstream_http_error' }],
  })
  const gone = await call(refused, { left: true })
  expect(gone.record).toMatchObject({ outcome: 'client_abort', errorCode: 'upstream_http_error' })
})

test('of a call that was paid for the price is logged, though a middleware takes its reply', async () => {
  const handle = () => {
    throw new Error('broken')
  }
  const middlewares: Middleware[] = [{ id: 'broken', around: 'respond', handle }]
  const { reply, record, settled } = await call(answers, { middlewares })
  expect(reply).toMatchObject({ status: 500 })
  expect(settled).toMatchObject([{ succeeded: true, usage: { output: 5 } }])
  expect(record).toMatchObject({
    statusCode: 500,
    errorCode: 'internal_error',
    usage: { output: 5 },
    settlement: { kind: 'row' },
    attempts: [{ status: 'success' }],
  })
})

test('a call that no provider was asked for gives its request id back', async () => {
  const handle = () => {
    throw new GatewayError('invalid_request', 'not today')
  }
  const middlewares: Middleware[] = [{ id: 'closed', around: 'execute', handle }]
  const { reply, record, settled } = await call(answers, { middlewares })
  expect(reply).toMatchObject({ status: 400 })
  expect(settled).toMatchObject([{ requestId: 'r1', succeeded: false, usage: undefined }])
  expect(record).toMatchObject({ outcome: 'invalid_request', attempts: [] })
})
