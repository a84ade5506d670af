import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const up = { provider: 'up', upstream_model: 'u' }
  gateway = await startTestGateway({
    server: { max_body_bytes: 100_000 },
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [
      { id: 'm', routes: [up] },
      {
        id: 'text-only',
        routes: [
          {
            ...up,
            capabilities: {
              vision: false,
              tools: false,
              responses: false,
              embeddings: false,
              json_schema: false,
              stream: false,
            },
          },
        ],
      },
      { id: 'off', routes: [{ ...up, enabled: false }] },
      { id: 'weightless', routes: [{ ...up, weight: 0 }] },
      { id: 'secret', allowlist: { users: ['eve@example.com'] }, routes: [up] },
    ],
    users: [
      {
        name: 'Ada',
        email: 'ada@example.com',
        api_keys: [
          { name: 'all', value: `literal.${adaKey}`, all_models: true },
          { name: 'one', value: `literal.${testKey('one')}`, models: ['off'] },
        ],
      },
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }]
const tool = { type: 'function', function: { name: 'f', parameters: {} } }

interface Case {
  path?: string
  body: unknown
  headers?: Record<string, string>
  status: number
  code: string
  says?: string
}

const cases: Record<string, Case> = {
  'broken JSON': { body: '{"model":', status: 400, code: 'invalid_request', says: 'JSON' },
  'no body': { body: '', status: 400, code: 'invalid_request' },
  'a JSON array': { body: [], status: 400, code: 'invalid_request', says: 'object' },
  'a body that nests 201 deep': {
    body: { ...chat, metadata: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) },
    status: 400,
    code: 'invalid_request',
    says: '200 levels deep',
  },
  'a body that nests 25,000 deep': {
    body: `{"model":"m","messages":[],"metadata":${'['.repeat(25_000)}${']'.repeat(25_000)}}`,
    status: 400,
    code: 'invalid_request',
    says: '200 levels deep',
  },
  'no model': {
    body: { messages: chat.messages },
    status: 400,
    code: 'invalid_request',
    says: 'model',
  },
  'a numeric model': {
    body: { ...chat, model: 7 },
    status: 400,
    code: 'invalid_request',
    says: 'model',
  },
  'no messages': { body: { model: 'm' }, status: 400, code: 'invalid_request', says: 'messages' },
  'messages as text': {
    body: { model: 'm', messages: 'hi' },
    status: 400,
    code: 'invalid_request',
    says: 'messages',
  },
  'a message that is no object': {
    body: { model: 'm', messages: ['hi'] },
    status: 400,
    code: 'invalid_request',
    says: 'messages',
  },
  'stream as text': {
    body: { ...chat, stream: 'yes' },
    status: 400,
    code: 'invalid_request',
    says: 'stream',
  },
  'tools as an object': {
    body: { ...chat, tools: {} },
    status: 400,
    code: 'invalid_request',
    says: 'tools',
  },
  'embeddings without input': {
    path: '/v1/embeddings',
    body: { model: 'm' },
    status: 400,
    code: 'invalid_request',
    says: 'input',
  },
  'an unknown model': {
    body: { ...chat, model: 'nope' },
    status: 404,
    code: 'model_not_found',
    says: 'nope',
  },
  'a model closed to the caller': {
    body: { ...chat, model: 'secret' },
    status: 403,
    code: 'model_not_granted',
  },
  'a model without a grant': {
    body: chat,
    headers: { authorization: `Bearer ${testKey('one')}` },
    status: 403,
    code: 'model_not_granted',
  },
  'only disabled routes': {
    body: { ...chat, model: 'off' },
    status: 503,
    code: 'no_routes_available',
  },
  'only weightless routes': {
    body: { ...chat, model: 'weightless' },
    status: 503,
    code: 'no_routes_available',
  },
  'vision on a text route': {
    body: { model: 'text-only', messages: [{ role: 'user', content: image }] },
    status: 400,
    code: 'invalid_request',
    says: 'vision',
  },
  'tools on a route without': {
    body: { ...chat, model: 'text-only', tools: [tool] },
    status: 400,
    code: 'invalid_request',
    says: 'tools',
  },
  'a stream on a route without': {
    body: { ...chat, model: 'text-only', stream: true },
    status: 400,
    code: 'invalid_request',
    says: 'stream',
  },
  'a schema on a route without': {
    body: {
      ...chat,
      model: 'text-only',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    },
    status: 400,
    code: 'invalid_request',
    says: 'json_schema',
  },
  'responses on a route without': {
    path: '/v1/responses',
    body: { model: 'text-only', input: 'x' },
    status: 400,
    code: 'invalid_request',
    says: 'responses',
  },
  'embeddings on a route without': {
    path: '/v1/embeddings',
    body: { model: 'text-only', input: 'x' },
    status: 400,
    code: 'invalid_request',
    says: 'embeddings',
  },
  'no key': {
    body: chat,
    headers: { authorization: '' },
    status: 401,
    code: 'missing_authorization_header',
  },
  'basic authentication': {
    body: chat,
    headers: { authorization: 'Basic eDp5' },
    status: 401,
    code: 'invalid_authorization_header',
  },
  'a foreign key': {
    body: chat,
    headers: { authorization: 'Bearer sk-1' },
    status: 401,
    code: 'invalid_api_key_format',
  },
  'a malformed key': {
    body: chat,
    headers: { authorization: 'Bearer gwk_x' },
    status: 401,
    code: 'invalid_api_key_format',
  },
  'an unknown key': {
    body: chat,
    headers: { authorization: `Bearer ${testKey('nobody')}` },
    status: 401,
    code: 'api_key_not_found',
  },
  'a wrong secret': {
    body: chat,
    headers: { authorization: `Bearer ${adaKey.slice(0, 21)}${testKey('x').slice(21)}` },
    status: 401,
    code: 'api_key_secret_mismatch',
  },
  'two keys': {
    body: chat,
    headers: { 'x-api-key': testKey('one') },
    status: 401,
    code: 'conflicting_api_key_headers',
  },
  'a request id with a space': {
    body: chat,
    headers: { 'x-request-id': 'a b' },
    status: 400,
    code: 'invalid_request',
    says: 'x-request-id',
  },
  'a request id of 129 characters': {
    body: chat,
    headers: { 'x-request-id': 'a'.repeat(129) },
    status: 400,
    code: 'invalid_request',
  },
  'a body over the limit': {
    body: { ...chat, pad: 'x'.repeat(100_000) },
    status: 413,
    code: 'request_body_too_large',
    says: '100000',
  },
  'a path that is not there': { path: '/v1/nope', body: {}, status: 404, code: 'not_found' },
}

const APIS = [
  ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
  ['PUT', '/v1/models', 'GET, HEAD, OPTIONS'],
  ['DELETE', '/messages', 'POST, OPTIONS'],
  ['PUT', '/api/v1/admin/teams', 'GET, HEAD, POST, OPTIONS'],
  ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
] as const

test.each(APIS)('%s %s is told which methods there are', async (method, path, allow) => {
  const response = await fetch(gateway.url + path, { method })
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
  const message = `${path} takes ${allow}, not ${method}`
  expect(await response.json()).toMatchObject({ error: { message } })
})

describe('refused before the provider:', () => {
  test.each(Object.entries(cases))('%s', async (_, wanted) => {
    upstream.clear()
    const headers = { ...wanted.headers }
    const response = await gateway.post(wanted.path ?? '/v1/chat/completions', wanted.body, headers)
    const body = (await response.json()) as { error: Record<string, string | null> }
    expect(response.status).toBe(wanted.status)
    expect(body.error.code).toBe(wanted.code)
    expect(body.error).toMatchObject({
      param: null,
      request_id: response.headers.get('x-request-id'),
    })
    expect(body.error.message).toContain(wanted.says ?? '')
    if (wanted.status === 401) {
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(response.headers.get('x-should-retry')).toBe('false')
    }
    expect(upstream.journal.calls).toHaveLength(0)
  })

  test('such requests are logged without an attempt and charged nothing', async () => {
    const id = 'refused-and-logged'
    await gateway.post('/v1/chat/completions', { ...chat, model: 'off' }, { 'x-request-id': id })
    const rows = await eventually(async () => {
      const found = await gateway.sql`
        select r.status_code, r.error_code,
          (select count(*)::int from request_log.request_log_attempts where request_id = ${id}) as attempts,
          (select count(*)::int from accounting.usage_cost_events where request_id = ${id}) as charges
        from request_log.request_logs r where request_id = ${id}`
      return found.length > 0 ? found : undefined
    })
    expect([...rows]).toEqual([
      { status_code: 503, error_code: 'no_routes_available', attempts: 0, charges: 0 },
    ])
  })

  test('a body that is not UTF-8', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adaKey}` },
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    })
    expect(response.status).toBe(400)
  })

  test('a body that unpacks to more than the limit, wherever it is sent', async () => {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${adaKey}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: Bun.gzipSync(Buffer.alloc(64 << 20, ' ')),
      })
      expect(response.status).toBe(413)
    }
  })
})

describe('whatever the answer is', () => {
  test.each<[string, string, number]>([
    ['POST', '/v1/messages/batches', 404],
    ['GET', '/v1/chat/completions', 405],
    ['GET', '/v1/nope', 404],
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/v1/models', 401],
    ['GET', '/api/v1/me', 401],
  ])('%s %s names the request by the id that its caller chose', async (method, path, status) => {
    const ask = (id: string) =>
      fetch(`${gateway.url}${path}`, { method, headers: { 'x-request-id': id } })
    const response = await ask('mine')
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toBe('mine')
    expect((await fetch(`${gateway.url}${path}`, { method })).headers.get('x-request-id')).toMatch(
      /^[\da-f-]{36}$/,
    )
  })

  test.each([
    ['/v1/models', {}],
    ['/v1/models', { authorization: 'Bearer gwk_nonsense' }],
    ['/api/v1/me', { authorization: `Bearer ${testKey('unknown')}` }],
    ['/api/v1/me', {}],
    ['/api/v1/auth/session', {}],
  ])('a 401 of %s for %j names the way to authenticate', async (path, headers) => {
    const response = await fetch(`${gateway.url}${path}`, { headers: { ...headers } })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(response.headers.get('x-should-retry')).toBe('false')
  })

  test('an id that cannot be kept does not hide that the gateway lives', async () => {
    const headers = { 'x-request-id': 'a b' }
    const response = await fetch(`${gateway.url}/healthz`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).not.toBe('a b')
  })
})

test('a host name of one letter finds its path', async () => {
  const response = await gateway.post('/v1/chat/completions', chat, { host: 'x' })
  expect(response.status).toBe(200)
})
