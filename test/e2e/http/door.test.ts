import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'

const bobKey = testKey('bob')
const page = 'https://app.example.com'
const said = { model: 'org/small:v1', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }
const providers = [{ id: 'sim', type: 'simulator' }]
const route = { provider: 'sim', upstream_model: 'm' }
const models = ['org/small:v1', 'other'].map((id) => ({ id, routes: [route] }))
const bob = {
  name: 'Bob',
  email: 'bob@example.com',
  api_keys: [{ name: 'test', value: `literal.${bobKey}`, models: ['other'] }],
}

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    users: [ada, bob],
    providers,
    models,
    server: { request_ids: 'own', cors: { origins: [page] } },
  })
})
afterAll(() => gateway?.stop())

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

describe('with request_ids: own', () => {
  test.each([
    ['an id', { 'x-request-id': 'mesh-1' }, 'mesh-1'],
    ['one that could not be the gateway’s', { 'x-request-id': 'a b' }, 'a b'],
    ['a long one', { 'x-request-id': 'x'.repeat(300) }, 'x'.repeat(128)],
    ['one under its other name', { 'x-client-request-id': 'mine' }, 'mine'],
    ['none', {}, undefined],
  ])('%s of the caller is kept beside the gateway’s own', async (_, headers, kept) => {
    // A mesh sends one with every call: the second is not a duplicate.
    for (const call of [1, 2]) {
      const reply = await gateway.post('/v1/chat/completions', said, headers)
      expect([call, reply.status]).toEqual([call, 200])
      const id = reply.headers.get('x-request-id')
      expect(id).toMatch(/^[0-9a-f-]{36}$/)
      const row = await eventually(async () => {
        const [row] = await gateway.sql`
          select metadata_json from request_log.request_logs where request_id = ${id}`
        return row
      })
      expect(row.metadata_json.client_request_id).toBe(kept)
    }
  })

  test.each(['/v1/models', '/healthz', '/nowhere', '/api/v1/me'])(
    '%s answers under an id of the gateway',
    async (path) => {
      const reply = await fetch(gateway.url + path, { headers: { 'x-request-id': 'mesh-1' } })
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

describe('paths', () => {
  test.each(['', '/v1', '/v1/v1'])('work below %p', async (base) => {
    const client = new OpenAI({ baseURL: gateway.url + base, apiKey: adaKey, maxRetries: 0 })
    expect((await client.chat.completions.create(said as never)).object).toBe('chat.completion')
    expect((await client.responses.create({ model: 'other', input: 'hi' })).object).toBe('response')
    expect((await client.embeddings.create({ model: 'other', input: 'hi' })).data).toHaveLength(1)
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['org/small:v1', 'other'])
    expect((await client.models.retrieve('org/small:v1')).id).toBe('org/small:v1')
    const message = await gateway.post(`${base}/messages`, said)
    expect(await message.json()).toMatchObject({ type: 'message' })
    const broken = await gateway.post(`${base}/messages`, '{')
    expect([broken.status, await broken.json()]).toMatchObject([400, { type: 'error' }])
  })

  test.each(['/v2/models', '/v1/v2/models', '/v1/healthz', '/v1/api/v1/me', '/v11/models'])(
    '%s is none of them',
    async (path) => {
      expect((await fetch(gateway.url + path, as(adaKey))).status).toBe(404)
    },
  )
})

describe('a model by its id', () => {
  test.each(['org/small:v1', 'org%2Fsmall%3Av1', 'org%2fsmall:v1'])('%s', async (id) => {
    const reply = await fetch(`${gateway.url}/v1/models/${id}`, as(adaKey))
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { id: 'org/small:v1', object: 'model', created: expect.any(Number), owned_by: 'gateway' },
    ])
  })

  test.each(['gone', 'org', 'org/small', 'org/small:v1/', 'org%2', 'a%00b', 'x'.repeat(600)])(
    '%s does not exist',
    async (id) => {
      const reply = await fetch(`${gateway.url}/v1/models/${id}`, as(adaKey))
      expect([reply.status, await reply.json()]).toMatchObject([
        404,
        { error: { code: 'model_not_found', type: 'not_found_error', param: null } },
      ])
    },
  )

  test('is shown to those only who may use it', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: bobKey, maxRetries: 0 })
    expect((await client.models.retrieve('other')).id).toBe('other')
    const refused = await client.models.retrieve('org/small:v1').catch((error) => error)
    expect([refused.constructor.name, refused.code]).toEqual(['NotFoundError', 'model_not_found'])
    const nobody = await fetch(`${gateway.url}/v1/models/other`)
    expect(nobody.status).toBe(401)
  })
})

describe('the root', () => {
  test.each([{}, { accept: '*/*' }, { accept: 'application/json' }])(
    'answers %p',
    async (headers) => {
      const reply = await fetch(gateway.url, { headers })
      expect([reply.status, await reply.json()]).toMatchObject([200, { status: 'ok' }])
      const head = await fetch(gateway.url, { headers, method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    },
  )

  test('leads a browser to the console', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const reply = await fetch(gateway.url, { headers: { accept }, redirect: 'manual' })
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/console'])
  })
})

describe('a method that is not the one of its path', () => {
  test.each([
    ['OPTIONS', '/v1/chat/completions', 204, 'POST, OPTIONS'],
    ['OPTIONS', '/messages', 204, 'POST, OPTIONS'],
    ['OPTIONS', '/v1/models/m', 204, 'POST, GET, HEAD, OPTIONS'],
    ['OPTIONS', '/', 204, 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/api/v1/admin/teams', 204, 'GET, HEAD, POST, OPTIONS'],
    ['HEAD', '/v1/chat/completions', 405, 'POST, OPTIONS'],
    ['HEAD', '/v1/models', 401, null],
    ['GET', '/responses', 405, 'POST, OPTIONS'],
    ['OPTIONS', '/nowhere', 404, null],
    ['HEAD', '/nowhere', 404, null],
  ])('%s %s: %i', async (method, path, status, allow) => {
    const reply = await fetch(gateway.url + path, { method })
    expect([reply.status, reply.headers.get('allow')]).toEqual([status, allow])
    expect(reply.headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('a page of an origin that server.cors names', () => {
  const asks = (headers: Record<string, string> = {}) => ({
    method: 'OPTIONS',
    headers: {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, x-stainless-os',
      ...headers,
    },
  })

  test.each(['/v1/chat/completions', '/messages', '/v1/models/a/b', '/mcp/tools', '/nowhere'])(
    'may call %s',
    async (path) => {
      const { status, headers } = await fetch(gateway.url + path, asks())
      expect([status, headers.toJSON()]).toMatchObject([
        204,
        {
          'access-control-allow-origin': page,
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': 'authorization, content-type, x-stainless-os',
          'access-control-max-age': '600',
          vary: 'access-control-request-headers, origin',
          'x-request-id': expect.any(String),
        },
      ])
      expect(headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  test.each([
    ['a reply', said, 200],
    ['a stream', { ...said, stream: true }, 200],
    ['an error', { ...said, model: 'gone' }, 404],
    ['a body that cannot be read', '{', 400],
  ])('reads %s and its headers', async (_, body, status) => {
    const reply = await gateway.post('/v1/chat/completions', body, { origin: page })
    await reply.text()
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([status, page])
    expect(reply.headers.get('vary')).toBe('origin')
    const exposed = reply.headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toContain('x-request-id')
    expect(exposed).toContain('content-type')
  })

  test.each(['/nowhere', '/v1/models', '/a/%2e%2e/b', '/api/v1/me'])(
    'reads what becomes of %s',
    async (path) => {
      const reply = await fetch(gateway.url + path, { headers: { origin: page } })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.headers.get('access-control-allow-origin')).toBe(page)
    },
  )

  test.each(['https://evil.example.com', 'http://app.example.com', 'null', `${page}:8443`])(
    'is not one of %s',
    async (origin) => {
      const asked = await fetch(`${gateway.url}/v1/models`, asks({ origin }))
      const read = await fetch(`${gateway.url}/v1/models`, { headers: { origin } })
      for (const { headers } of [asked, read]) {
        expect(headers.get('vary')).toContain('origin')
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    },
  )
})
