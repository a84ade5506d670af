import { expect, test } from 'bun:test'
import { accountingErrors } from 'model-gateway/accounting'
import type { Principal } from 'model-gateway/identity'
import { GatewayError, strictObject, Type } from 'model-gateway/plugin'
import { pino } from 'pino'
import { createDoor } from '../../kernel/http/own-host.ts'
import { createPluginRoutes } from '../../kernel/http/plugin-routes.ts'
import { type AdminRoute, adminRoute, type SessionCaller } from './contract.ts'
import { type AdminPlaneServices, createAdminPlane } from './plane.ts'
import { adminModuleFault } from './shape.ts'

const ada: SessionCaller = {
  kind: 'session',
  sessionId: 's1',
  userId: 'u1',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'platform_admin',
}
const bob: SessionCaller = { ...ada, userId: 'u2', role: 'user' }
const sessions = new Map([
  ['t-ada', ada],
  ['t-bob', bob],
])
const principal = { apiKeyId: 'k1' } as Principal
const poor = { apiKeyId: 'k2' } as Principal

const routes: AdminRoute[] = [
  adminRoute({
    method: 'GET',
    path: '/api/v1/admin/things/{thing_id}',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'One thing.',
    params: Type.Object({ thing_id: Type.String({ minLength: 2 }) }),
    query: strictObject({ page: Type.Optional(Type.Integer({ minimum: 1 })) }),
    result: Type.Object({ id: Type.String(), page: Type.Integer() }),
    handle({ params, query, reply }) {
      reply.set('x-thing', 'yes')
      return { id: params.thing_id, page: query.page ?? 1 }
    },
  }),
  adminRoute({
    method: 'POST',
    path: '/api/v1/admin/things',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'A new thing.',
    body: strictObject({
      name: Type.String(),
      inner: Type.Optional(strictObject({ n: Type.Integer() })),
    }),
    status: 201,
    result: Type.Object({ name: Type.String() }),
    handle({ body }) {
      if (body.name === 'taken') throw new GatewayError('conflict', 'name: there is one already')
      if (body.name === 'broken') throw new Error('secret detail')
      if (body.name.startsWith('code ')) {
        const [code, severity] = body.name.slice(5).split(' ')
        throw new Error('secret detail', { cause: { code, severity } })
      }
      return { name: body.name }
    },
  }),
  adminRoute({
    method: 'GET',
    path: '/api/v1/me/export.csv',
    audience: 'me',
    tag: 'me',
    summary: 'A file.',
    contentType: 'text/csv; charset=utf-8',
    result: Type.String(),
    handle: ({ caller }) => `who\n${caller.kind}\n`,
  }),
  adminRoute({
    method: 'GET',
    path: '/api/v1/admin/things/{id}/parts/{part_id}',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'A part, of a plugin that calls things otherwise.',
    params: Type.Object({ id: Type.String(), part_id: Type.String() }),
    result: Type.Object({ id: Type.String(), part_id: Type.String() }),
    handle: ({ params }) => params,
  }),
  adminRoute({
    method: 'POST',
    path: '/api/v1/admin/polish',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'Without a body.',
    result: Type.Unknown(),
    handle: ({ body }) => body ?? 'none',
  }),
  adminRoute({
    method: 'POST',
    path: '/api/v1/admin/turn',
    audience: 'platform_admin',
    tag: 'things',
    summary: 'With a body of which everything may be left out.',
    body: strictObject({ degrees: Type.Optional(Type.Integer()) }),
    result: Type.Unknown(),
    handle: ({ body }) => body.degrees ?? 'none',
  }),
]

const faults: string[] = []
/** Requests that may take as long as they like. */
const keptOpen: string[] = []
const lines: { msg: string }[] = []
const door = createDoor(
  { hostname: '127.0.0.1', publicBaseUrl: undefined, allowedHosts: undefined },
  new AbortController().signal,
)
const services: AdminPlaneServices = {
  modules: [{ id: 'things', routes }],
  sessions: { find: async (token) => sessions.get(token) },
  identity: { authenticate: (key) => (key === 'gwk_poor' ? poor : principal) },
  accounting: {
    checkOwner(of) {
      if (of === poor)
        throw new GatewayError(accountingErrors.service_account_budget_required, 'no budget')
    },
  },
  door,
  log: pino({}, { write: (line) => lines.push(JSON.parse(line)) }),
}
const appOf = (own: Partial<AdminPlaneServices> = {}) =>
  createPluginRoutes({
    httpRoutes: createAdminPlane({ ...services, ...own }),
    door,
    bodyLimits: { maxBytes: 1000, timeoutMs: 1000 },
    address: () => '127.0.0.1',
    limitIdle: ({ url }) => void keptOpen.push(url),
    streams() {},
    limitAgain() {},
    fault: (message) => void faults.push(message),
  })
const app = appOf()

function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  return app.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { host: 'localhost', ...headers },
      ...(body !== undefined && { body }),
    }),
  )
}

const asAda = { cookie: 'other=1; gateway_session=t-ada' }
const own = { origin: 'http://localhost', 'content-type': 'application/json' }

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return [response.status, error.code, error.message] as const
}

test('an answer is in the envelope and carries the request id and the handler’s headers', async () => {
  const response = await ask('GET', '/api/v1/admin/things/t1?page=3', {
    ...asAda,
    'x-request-id': 'mine',
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-request-id')).toBe('mine')
  expect(response.headers.get('x-thing')).toBe('yes')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(keptOpen.at(-1)).toEndWith('/things/t1?page=3')
  const { data, meta } = (await response.json()) as {
    data: unknown
    meta: { generated_at: string }
  }
  expect(data).toEqual({ id: 't1', page: 3 })
  expect(new Date(meta.generated_at).toISOString()).toBe(meta.generated_at)
})

test('routes below each other may name the same parameter differently', async () => {
  const of = async (path: string) => {
    const { data } = (await (await ask('GET', path, asAda)).json()) as { data: unknown }
    return data
  }
  expect(await of('/api/v1/admin/things/t1/parts/p%2F7')).toEqual({ id: 't1', part_id: 'p/7' })
  expect(await of('/api/v1/admin/things/t1')).toEqual({ id: 't1', page: 1 })
})

test.each([
  ['nobody', '/api/v1/admin/things/t1', {}, 401, 'session_required'],
  [
    'an ended session',
    '/api/v1/admin/things/t1',
    { cookie: 'gateway_session=gone' },
    401,
    'session_required',
  ],
  [
    'a user',
    '/api/v1/admin/things/t1',
    { cookie: 'gateway_session=t-bob' },
    403,
    'insufficient_privileges',
  ],
  [
    'an API key',
    '/api/v1/admin/things/t1',
    { authorization: 'Bearer gwk_x' },
    401,
    'session_required',
  ],
  ['nobody', '/api/v1/me/export.csv', {}, 401, 'session_required'],
])('%s at %s is refused', async (_, path, headers, status, code) => {
  const [got, gotCode] = await errorOf(await ask('GET', path, headers as Record<string, string>))
  expect([got, gotCode]).toEqual([status, code])
})

test('a route for me accepts an API key and a session, and uses its content type', async () => {
  const byKey = await ask('GET', '/api/v1/me/export.csv', { authorization: 'Bearer gwk_x' })
  expect(byKey.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await byKey.text()).toBe('who\napi_key\n')
  const bySession = await ask('GET', '/api/v1/me/export.csv', { cookie: 'gateway_session=t-bob' })
  expect(await bySession.text()).toBe('who\nsession\n')
  const both = { cookie: 'gateway_session=t-bob', authorization: 'Bearer gwk_x' }
  const byBoth = await ask('GET', '/api/v1/me/export.csv', both)
  expect(await byBoth.text()).toBe('who\nsession\n')
})

test('the first valid one of a few session cookies is used', async () => {
  const status = async (...tokens: string[]) => {
    const cookie = tokens.map((token) => `gateway_session=${token}`).join('; ')
    return (await ask('GET', '/api/v1/admin/things/t1', { cookie })).status
  }
  // Browsers send one for each path and domain, in any order.
  expect(await status('gone', 't-ada')).toBe(200)
  expect(await status('', 'gone', 't-ada', 'gone')).toBe(200)
  expect(await status(...Array(4).fill('gone'), 't-ada')).toBe(401)
})

test('a key whose owner may not call is refused as it is elsewhere', async () => {
  const response = await ask('GET', '/api/v1/me/export.csv', { authorization: 'Bearer gwk_poor' })
  expect((await errorOf(response)).slice(0, 2)).toEqual([403, 'service_account_budget_required'])
})

test.each([
  ['?page=0', 'page: expected integer to be greater or equal to 1'],
  ['?page=two', 'page: must be a whole number'],
  [`?page=1${'0'.repeat(15)}`, 'page: must be a whole number'],
  ['?page=%00', 'page: contains the character U+0000'],
  ['?pgae=2', 'query pgae: is not a known parameter; known: page'],
  ['?page=1&page=2', 'page: is given twice'],
])('the query %s is refused by name', async (query, message) => {
  const [status, code, said] = await errorOf(
    await ask('GET', `/api/v1/admin/things/t1${query}`, asAda),
  )
  expect([status, code]).toEqual([400, 'invalid_request'])
  expect(said).toContain(message)
})

test('a parameter that cannot be an id addresses nothing', async () => {
  const [status, code] = await errorOf(await ask('GET', '/api/v1/admin/things/t', asAda))
  expect([status, code]).toEqual([404, 'not_found'])
})

test.each([
  ['no header', {}],
  ['another origin', { origin: 'https://evil.example' }],
  ['the null origin', { origin: 'null' }],
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  [
    'another site that claims our origin',
    { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' },
  ],
])('an unsafe call with %s is refused', async (_, headers) => {
  const response = await ask(
    'POST',
    '/api/v1/admin/things',
    { ...asAda, 'content-type': 'application/json', ...(headers as Record<string, string>) },
    '{"name":"a"}',
  )
  expect((await errorOf(response)).slice(0, 2)).toEqual([403, 'csrf_rejected'])
})

test('an unsafe request from the gateway’s origin is accepted', async () => {
  for (const headers of [{ origin: 'http://localhost' }, { 'sec-fetch-site': 'same-origin' }]) {
    const response = await ask(
      'POST',
      '/api/v1/admin/things',
      { ...asAda, 'content-type': 'application/json', ...headers },
      '{"name":"a"}',
    )
    expect(response.status).toBe(201)
  }
})

test.each([
  ['', {}, 400, 'invalid_request', 'no body'],
  ['{', {}, 400, 'invalid_request', 'not valid JSON'],
  ['{"name":"a"}', { 'content-type': 'text/plain' }, 400, 'invalid_request', 'content-type'],
  ['{"name":1}', {}, 422, 'validation_failed', '/name: expected string'],
  ['{"name":"a","nmae":"b"}', {}, 422, 'validation_failed', '/nmae: is not a known member'],
  ['{"name":"a","inner":{"n":1.5}}', {}, 422, 'validation_failed', '/inner/n: expected integer'],
  [`{"name":"${'x'.repeat(1000)}"}`, {}, 413, 'request_body_too_large', '1000'],
  ['{"name":"taken"}', {}, 409, 'conflict', 'there is one already'],
])('the body %p is refused with its reason', async (body, headers, status, code, message) => {
  const response = await ask('POST', '/api/v1/admin/things', { ...asAda, ...own, ...headers }, body)
  const [got, gotCode, said] = await errorOf(response)
  expect([got, gotCode]).toEqual([status, code])
  expect(said).toContain(message)
})

test.each([undefined, '', '{}', ' { }\n'])(
  'where nothing has to be said, the body may be %j, with or without a content-type',
  async (body) => {
    const { origin } = own
    for (const path of ['/api/v1/admin/polish', '/api/v1/admin/turn']) {
      for (const headers of [own, { origin }]) {
        const response = await ask('POST', path, { ...asAda, ...headers }, body)
        expect(await response.json()).toMatchObject({ data: 'none' })
      }
    }
  },
)

test('an invalid body is rejected even if the route has no body', async () => {
  const send = (path: string, body: string) =>
    ask('POST', `/api/v1/admin/${path}`, { ...asAda, ...own }, body)
  expect(await errorOf(await send('polish', '{"a":1}'))).toContain('invalid_request')
  expect(await errorOf(await send('turn', '{"a":1}'))).toContain('validation_failed')
  expect(await errorOf(await send('things', '{}'))).toContain('validation_failed')
})

test('a caller who loses access while the body arrives changes nothing', async () => {
  const cookie = 'gateway_session=t-eve'
  const send = (meanwhile: () => void) => {
    sessions.set('t-eve', { ...ada, userId: 'u3' })
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        await Bun.sleep(20)
        meanwhile()
        controller.enqueue(new TextEncoder().encode('{"name":"a"}'))
        controller.close()
      },
    })
    const headers = { host: 'localhost', cookie, ...own }
    const url = 'http://localhost/api/v1/admin/things'
    return app.handle(new Request(url, { method: 'POST', headers, body }))
  }
  expect((await send(() => {})).status).toBe(201)
  const ended = await send(() => sessions.delete('t-eve'))
  expect((await errorOf(ended)).slice(0, 2)).toEqual([401, 'session_required'])
  const demoted = await send(() => sessions.set('t-eve', bob))
  expect((await errorOf(demoted)).slice(0, 2)).toEqual([403, 'insufficient_privileges'])
})

test.each([
  ['ECONNREFUSED', 'the database cannot be reached'],
  ['57P01', 'the database cannot be reached'],
  ['28P01 FATAL', 'the database cannot be reached'],
  ['57014', 'the database did not answer in time'],
  ['55P03', 'the database did not answer in time'],
  ['25006', 'the database is read-only at the moment'],
])('the database error %s is store_unavailable, not an internal error', async (code, message) => {
  const before = faults.length
  const body = JSON.stringify({ name: `code ${code}` })
  const response = await ask('POST', '/api/v1/admin/things', { ...asAda, ...own }, body)
  expect(await errorOf(response)).toEqual([503, 'store_unavailable', message])
  expect(faults).toHaveLength(before)
})

test('a fault of the gateway is logged and not shown', async () => {
  const response = await ask(
    'POST',
    '/api/v1/admin/things',
    { ...asAda, ...own },
    '{"name":"broken"}',
  )
  const [status, code, message] = await errorOf(response)
  expect([status, code]).toEqual([500, 'internal_error'])
  expect(message).not.toContain('secret')
  expect(faults).toEqual(['POST /api/v1/admin/things failed'])
})

test('a route that hangs is given up and named; the others answer', async () => {
  const facts = { tag: 't', summary: 'Things.', audience: 'anyone', result: Type.Null() } as const
  const hanging = appOf({
    deadlineMs: 30,
    modules: [
      {
        id: 'acme',
        routes: [
          adminRoute({
            ...facts,
            method: 'GET',
            path: '/api/v1/me/hangs',
            handle: () => Bun.sleep(60).then(() => null),
          }),
          adminRoute({ ...facts, method: 'GET', path: '/api/v1/me/ends', handle: () => null }),
        ],
      },
    ],
  })
  const get = (name: string) =>
    hanging.handle(
      new Request(`http://localhost/api/v1/me/${name}`, { headers: { host: 'localhost' } }),
    )
  expect((await errorOf(await get('hangs'))).slice(0, 2)).toEqual([500, 'internal_error'])
  expect(faults.at(-1)).toBe('GET /api/v1/me/hangs failed')
  expect((await get('ends')).status).toBe(200)
  await Bun.sleep(60)
  expect(lines.at(-1)?.msg).toBe(
    'GET /api/v1/me/hangs of the admin module "acme" finished after its deadline',
  )
})

test('a route may be an object of a class: who may call it, and with what, is not lost', async () => {
  class Route implements AdminRoute {
    readonly #data = 'kept'
    readonly method = 'POST'
    readonly path = '/api/v1/admin/kept'
    readonly tag = 'admin'
    readonly summary = 'Things.'
    readonly result = Type.String()
    readonly body = strictObject({})
    get audience() {
      return 'platform_admin' as const
    }
    get status() {
      return 201 as const
    }
    handle() {
      return this.#data
    }
  }
  const module = { id: 'acme', routes: [new Route()] }
  expect(adminModuleFault(module)).toBeUndefined()
  const styled = appOf({ modules: [module] })
  const send = (headers: Record<string, string>) =>
    styled.handle(
      new Request('http://localhost/api/v1/admin/kept', {
        method: 'POST',
        headers: { host: 'localhost', ...own, ...headers },
      }),
    )
  expect((await send({})).status).toBe(401)
  const kept = await send(asAda)
  expect([kept.status, await kept.json()]).toMatchObject([201, { data: 'kept' }])
})
