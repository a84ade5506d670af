import { describe, expect, test } from 'bun:test'
import { eventually } from '../../test/harness/gateway.ts'
import { speaking } from '../../test/harness/surfaces.ts'
import {
  type Dialect,
  type ExchangeRecord,
  type Execute,
  features,
  GatewayError,
  type JsonObject,
  type Middleware,
  type ModelSpec,
  type Principal,
  type RouteSpec,
  type SettlementRequest,
  type Surface,
  type SurfaceRequest,
  type Usage,
} from '../plugin/index.ts'
import { createCatalog } from '../routing/catalog.ts'
import { readChatRequest, readResponsesRequest } from '../wire/request.ts'
import { compileChains } from './compile-chains.ts'
import type { Incoming, LifecycleServices } from './exchange.ts'
import { createInference } from './inference.ts'

const capabilities = Object.fromEntries(
  ['chat_completions', 'responses', ...features].map((flag) => [flag, true]),
)
const spec = { id: 'mine/p/up', provider: 'p', upstreamModel: 'up', priority: 1, weight: 1 }
const route = { ...spec, enabled: true, capabilities } as unknown as RouteSpec
const model = { id: 'mine', tags: [], rank: 1, routes: [route] } as unknown as ModelSpec
const owner = { kind: 'user', userId: 'u', email: 'ada@example.com', team: undefined }
const principal = { apiKeyId: 'k', owner, grants: 'all', allowlists: [] } as unknown as Principal
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const said = { model: 'up', choices: [{ message: { content: 'hi' } }], usage }
const answers: Execute = async () => ({ kind: 'buffered', body: said })

const sent = { authorization: 'Bearer gwk_key', cookie: 'a=b', 'user-agent': 'curl' }

/** One call to a provider with this behaviour, and its outcome; one of two recorders fails. */
async function call(
  execute: Execute | undefined,
  {
    middlewares = [],
    left = false,
    authenticate = () => principal,
    checkOwner = () => {},
    receivedAt = new Date(),
    family = 'chat_completions',
    totalMs = 10_000,
    priced = true,
    dialect = {},
    admit = () => undefined,
    faults = [],
    settle = async () => ({ kind: 'row', pricingStatus: 'priced' }),
  }: {
    middlewares?: Middleware[]
    left?: boolean
    authenticate?: () => Principal
    checkOwner?: () => void
    receivedAt?: Date
    family?: 'chat_completions' | 'responses'
    totalMs?: number
    priced?: boolean
    dialect?: Partial<Dialect>
    admit?: () => undefined
    faults?: readonly string[]
    settle?: () => Promise<unknown>
  } = {},
) {
  const records: ExchangeRecord[] = []
  const logged: string[] = []
  const settled: SettlementRequest[] = []
  let leases = 0
  const bound = { supports: [], pricing: { model: 'up' }, execute: { [family]: execute } }
  const { surface, way } = speaking(family)
  const own = { ...way, dialect: { ...way.dialect, ...dialect }, execute }
  const read = ({ json }: SurfaceRequest) =>
    family === 'responses' ? readResponsesRequest(json) : readChatRequest(json)
  const catalog = createCatalog(
    new Map([[model.id, model]]),
    (spec) =>
      ({
        spec,
        bound,
        capabilities: spec.capabilities,
        ways: new Map([[family, own]]),
      }) as never,
  )
  const timeouts = { totalMs, idleMs: 10_000 }
  const providers = new Map([['p', { id: 'p', type: 'p', timeouts }]])
  const services = {
    lease() {
      leases++
      const runtime = { configVersion: 'v1', catalog, providers }
      return { runtime, release: () => void leases-- }
    },
    identity: { authenticate: async () => authenticate() },
    accounting: {
      checkOwner,
      admit,
      async settle(request: SettlementRequest) {
        settled.push(request)
        return await settle()
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
    chains: compileChains(
      middlewares.map((middleware) => ({ plugin: 'test', middleware })),
      [family],
    ),
    chainTools: { deadlineMs: 1000, fault() {} },
    trace: () => ({ providerCalled: () => undefined, finished() {} }),
    random: Math.random,
    fault: (message: string) => logged.push(message),
  } as unknown as LifecycleServices
  const incoming: Incoming = {
    requestId: 'r1',
    callerChoseRequestId: true,
    refusal: undefined,
    surface: { ...surface, read, priced } satisfies Surface,
    receivedAt,
    startedAt: performance.now(),
    headers: sent,
    body: async () =>
      JSON.stringify({ model: 'mine', messages: [{ role: 'user', content: '?' }], input: '?' }),
    callerLeft: () => (left ? AbortSignal.abort() : new AbortController().signal),
  }
  const reply = await createInference(services)(incoming)
  const record = await eventually(async () => records[0])
  expect(logged).toEqual([...faults, 'a recorder failed'])
  await eventually(async () => (leases === 0 ? 'released' : undefined))
  return { reply, record, settled }
}

function revoked(): never {
  throw new GatewayError('api_key_revoked', 'revoked')
}

const refused: Execute = async () => {
  throw new GatewayError('upstream_http_error', 'busy', {
    status: 503,
    headers: { 'retry-after': '7' },
  })
}

test('logs the reply as sent to the caller', async () => {
  const { reply, record } = await call(answers)
  const body = { ...said, model: 'mine' }
  expect(reply).toMatchObject({ status: 200, body: JSON.stringify(body) })
  expect(record).toMatchObject({
    outcome: 'success',
    attempts: [{ status: 'success' }],
    response: { kind: 'buffered', body, bytes: JSON.stringify(body).length },
  })
})

test('a refused key tells agents not to retry', async () => {
  const { reply, record } = await call(answers, { authenticate: revoked })
  expect(reply).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' },
  })
  expect(record).toMatchObject({ outcome: 'invalid_request', principal: undefined, attempts: [] })
})

test('refuses a call whose budget or key expires before the body arrives', async () => {
  const checkOwner = () => {
    throw new GatewayError('model_not_granted', 'none')
  }
  const poor = await call(answers, { checkOwner })
  expect(poor.reply).toMatchObject({ status: 403 })
  // The key is valid, so the call has an owner.
  expect(poor.record.principal).toBe(principal)
  let times = 0
  const authenticate = () => (++times === 1 ? principal : revoked())
  const slow = { authenticate, receivedAt: new Date(Date.now() - 2000) }
  expect((await call(answers, slow)).reply).toMatchObject({ status: 401 })
  times = 0
  expect((await call(answers, { authenticate })).reply).toMatchObject({ status: 200 })
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

test('a request that a provider cannot express is not an attempt, and releases the request id', async () => {
  const unable: Execute = async () => {
    throw new GatewayError('invalid_request', 'seed is not supported by this route')
  }
  const { reply, record, settled } = await call(unable)
  expect(reply).toMatchObject({ status: 400, body: expect.stringContaining('seed is not') })
  expect(record).toMatchObject({
    outcome: 'invalid_request',
    errorCode: 'invalid_request',
    provider: 'p',
    attempts: [],
  })
  expect(settled).toMatchObject([{ succeeded: false, usage: undefined }])
})

test('a failed call is charged by its provider’s counters, and aborted', async () => {
  let signal: AbortSignal | undefined
  const { settled } = await call(async (sent) => {
    signal = sent.signal
    const counted = { uncachedInput: 3, output: 5 } as Usage
    throw new GatewayError('upstream_transport', 'broke', {
      usage: counted,
      billingModifiers: ['serviceTier'],
    })
  })
  expect(settled).toMatchObject([
    {
      succeeded: false,
      usage: { output: 5, doubt: 'provider_error' },
      billingModifiers: ['serviceTier'],
    },
  ])
  expect(signal?.aborted).toBe(true)
})

const takes: Middleware[] = [
  {
    id: 'takes',
    around: 'execute',
    async handle(_, next) {
      await next()
      throw new Error('broken')
    },
  },
]
const failedResponse = {
  output: [],
  status: 'failed',
  error: { code: 'server_error', message: 'broke' },
  usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
}

const endings: [how: string, body: JsonObject, Parameters<typeof call>[1], expected: object][] = [
  ['is sent', said, {}, { succeeded: true, usage: { output: 5 } }],
  ['a middleware takes', said, { middlewares: takes }, { succeeded: true, usage: { output: 5 } }],
  ['cannot be read', { usage }, {}, { succeeded: false, usage: { doubt: 'provider_error' } }],
  ['says that it failed', failedResponse, { family: 'responses' }, { succeeded: false }],
]
test.each(endings)(
  'an answer that %s is charged once, with its billing modifiers',
  async (...of) => {
    const [, body, options, expected] = of
    const answer: Execute = async () => ({
      kind: 'buffered',
      body,
      billingModifiers: ['serviceTier'],
    })
    const { settled, record } = await call(answer, options)
    expect(settled).toMatchObject([{ billingModifiers: ['serviceTier'], ...expected }])
    expect(record.attempts).toHaveLength(1)
  },
)

test('records attempt and usage of a call that cannot be settled', async () => {
  const { reply, record } = await call(answers, {
    settle: () => Promise.reject(new GatewayError('store_unavailable', 'no disk')),
  })
  expect(reply).toMatchObject({ status: 503 })
  expect(record).toMatchObject({
    errorCode: 'store_unavailable',
    attempts: [{ status: 'success' }],
    usage: { output: 5 },
  })
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

test('middleware sees no credentials and sets no reserved headers, in any spelling', async () => {
  const seen: unknown[] = []
  const refusals: unknown[] = []
  const middlewares: Middleware[] = [
    {
      id: 'reads',
      around: 'decode',
      async handle({ header }, next) {
        for (const name of ['authorization', 'Authorization', 'COOKIE', 'User-Agent']) {
          seen.push(header(name))
        }
        await next()
      },
    },
    {
      id: 'writes',
      around: 'respond',
      async handle({ setHeader }, next) {
        for (const name of ['X-Request-Id', 'Content-Type', 'x-mine']) {
          try {
            setHeader(name, 'forged')
          } catch (error) {
            refusals.push((error as Error).message)
          }
        }
        await next()
      },
    },
  ]
  const { reply } = await call(answers, { middlewares })
  expect(seen).toEqual([null, null, null, 'curl'])
  expect(refusals).toEqual([
    'set the header X-Request-Id, which the gateway sets itself',
    'set the header Content-Type, which the gateway sets itself',
  ])
  expect(reply).toMatchObject({ status: 200, headers: { 'x-mine': 'forged' } })
})

test('of a body that a middleware has replaced the new one is logged, also when the next refuses', async () => {
  const body = { model: 'mine', messages: [{ role: 'user', content: 'masked' }] }
  const middlewares: Middleware[] = [
    {
      id: 'refuses',
      around: 'decode',
      async handle(_, next) {
        await next()
        throw new GatewayError('invalid_request', 'not today')
      },
    },
    {
      id: 'masks',
      around: 'decode',
      async handle(_, next) {
        const decoded = await next()
        decoded.replaceBody(body)
      },
    },
  ]
  const { reply, record } = await call(answers, { middlewares })
  expect(reply).toMatchObject({ status: 400 })
  expect(record.requestBody).toEqual(body)
})

test('a body that is replaced when the request has been decoded changes nothing', async () => {
  let late: (() => void) | undefined
  const middlewares: Middleware[] = [
    {
      id: 'late',
      around: 'decode',
      async handle(_, next) {
        const decoded = await next()
        late = () => decoded.replaceBody({ model: 'other', messages: [] })
      },
    },
  ]
  let refusal: unknown
  const execute: Execute = async (sent) => {
    try {
      late?.()
    } catch (error) {
      refusal = (error as Error).message
    }
    return await answers(sent)
  }
  const { record } = await call(execute, { middlewares })
  expect(refusal).toBe('replaced the body after the request had been decoded')
  expect(record).toMatchObject({ requestedModel: 'mine', outcome: 'success' })
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

test('a call that costs nothing passes no budget and is in no ledger', async () => {
  const admit = () => {
    throw new GatewayError('conflict', 'spent')
  }
  const { reply, record, settled } = await call(answers, { priced: false, admit })
  expect(reply).toMatchObject({ status: 200 })
  expect(settled).toEqual([])
  expect(record).toMatchObject({ priced: false, settlement: { kind: 'none' }, outcome: 'success' })
  expect((await call(answers, { admit })).reply).toMatchObject({ status: 409 })
  expect((await call(answers)).record).not.toHaveProperty('priced')
})

describe('a dialect that answers itself', () => {
  const guessed = { choices: [], guessed: true }
  const dialect: Partial<Dialect> = {
    namesModel: false,
    answer: async ({ model }, { upstreamModel }) => ({
      kind: 'buffered',
      body: { ...guessed, of: `${model} ${upstreamModel}` },
      headers: { 'x-guessed': 'true' },
    }),
  }
  const fails = (status: number): Execute => {
    const headers = new Headers({ 'retry-after': '9', 'x-request-id': 'theirs' })
    return async (sent) => {
      sent.answered(headers)
      throw new GatewayError('upstream_http_error', 'no', { status })
    }
  }
  const local = { ...guessed, of: 'mine up' }
  const refuses: Execute = async () => {
    throw new GatewayError('invalid_request', 'not this one')
  }

  test.each<[string, Execute | undefined, object[]]>([
    ['on a route without an executor', undefined, []],
    ['where the provider refuses', refuses, []],
    ['where the upstream is down', fails(503), [{ status: 'provider_error' }]],
    ['where the upstream does not know it', fails(404), [{ status: 'provider_error' }]],
    [
      'where the reply cannot be read',
      async () => ({ kind: 'buffered', body: {} }),
      [{ status: 'provider_error', errorCode: 'upstream_transport' }],
    ],
  ])('does so %s', async (_, execute, attempts) => {
    const { reply, record } = await call(execute, { dialect })
    expect(reply).toEqual({
      kind: 'buffered',
      status: 200,
      headers: { 'x-guessed': 'true' },
      body: JSON.stringify(local),
    })
    expect(record).toMatchObject({ outcome: 'success', attempts, response: { body: local } })
  })

  test('leaves a good reply as it is, and the refusal of a bad request to its caller', async () => {
    const good = await call(answers, { dialect })
    expect(good.reply).toMatchObject({ headers: {}, body: JSON.stringify(said) })
    const bad = await call(fails(400), { dialect })
    expect(bad.reply).toMatchObject({ status: 400, headers: { 'x-upstream-request-id': 'theirs' } })
    expect(bad.record).toMatchObject({ attempts: [{ status: 'provider_error' }] })
  })

  test('has the time that an upstream has', async () => {
    const answer = () => new Promise<never>(() => {})
    const faults = ['an exchange failed']
    const { reply } = await call(undefined, { dialect: { answer }, totalMs: 5, faults })
    expect(reply).toMatchObject({ status: 500, body: expect.stringContaining('internal_error') })
  })
})
