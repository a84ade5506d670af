import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../harness/gateway.ts'

const origin = 'https://app.example.com'
let gateway: TestGateway
let closed: TestGateway

const models = ['m', 'vendor/big-model'].map((id) => ({
  id,
  routes: [{ provider: 'sim', upstream_model: 's' }],
}))
const providers = [{ id: 'sim', type: 'simulator' }]

beforeAll(async () => {
  gateway = await startTestGateway({
    server: {
      cors: { origins: [origin], headers: ['X-Tenant', 'Authorization'] },
      request_ids: 'own',
    },
    providers,
    models,
  })
  closed = await startTestGateway({ providers, models })
})
afterAll(async () => {
  await gateway?.stop()
  await closed?.stop()
})

const authorization = `Bearer ${adaKey}`
const get = (path: string, init: RequestInit = {}, on = gateway) =>
  fetch(`${on.url}${path}`, { headers: { authorization }, redirect: 'manual', ...init })
const messages = [{ role: 'user', content: 'hi' }]

test.each(['', '/v1', '/v1/v1'])('official clients reach it below %p', async (base) => {
  const openai = new OpenAI({ baseURL: `${gateway.url}${base}`, apiKey: adaKey, maxRetries: 0 })
  const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
  expect((await openai.chat.completions.create(chat)).choices).toHaveLength(1)
  expect((await openai.responses.create({ model: 'm', input: 'hi' })).status).toBe('completed')
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['m', 'vendor/big-model'])
  if (base === '/v1/v1') return
  const anthropic = new Anthropic({ baseURL: `${gateway.url}${base}`, apiKey: adaKey })
  expect((await anthropic.messages.create({ ...chat, max_tokens: 9 })).type).toBe('message')
})

test('a model is found by its id, slashes included, and no other is', async () => {
  const openai = gateway.openai(adaKey)
  expect(await openai.models.retrieve('vendor/big-model')).toMatchObject({
    id: 'vendor/big-model',
    object: 'model',
  })
  expect((await get('/v1/models/vendor/big-model')).status).toBe(200)
  const missing = await get('/models/nope')
  expect(missing.status).toBe(404)
  expect(await missing.json()).toMatchObject({ error: { code: 'model_not_found' } })
  expect((await get('/v1/models/m', { headers: {} })).status).toBe(401)
})

test('the root answers: the console for browsers, a word for others', async () => {
  for (const method of ['GET', 'HEAD']) expect((await get('/', { method })).status).toBe(200)
  const browser = await get('/', { headers: { accept: 'text/html,*/*' } })
  expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console'])
})

test('HEAD is answered where GET is, and OPTIONS everywhere with the methods', async () => {
  for (const path of ['/v1/models', '/healthz', '/v1/models/m']) {
    const head = await get(path, { method: 'HEAD' })
    expect([path, head.status, await head.text()]).toEqual([path, 200, ''])
  }
  for (const [path, allow] of [
    ['/v1/chat/completions', 'POST, OPTIONS'],
    ['/models', 'GET, HEAD, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const options = await get(path, { method: 'OPTIONS', headers: {} }, closed)
    expect([path, options.status, options.headers.get('allow')]).toEqual([path, 204, allow])
    expect(options.headers.get('access-control-allow-origin')).toBeNull()
  }
  expect((await get('/v1/nope', { method: 'OPTIONS' })).status).toBe(404)
  expect((await get('/v1/chat/completions')).headers.get('allow')).toBe('POST')
})

describe('pages of another origin', () => {
  const asks = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, x-tenant, x-stainless-os, x-evil',
  }

  test('may call when they are named, and are told what they may send', async () => {
    const preflight = await get('/v1/messages', { method: 'OPTIONS', headers: asks })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, x-tenant',
      vary: 'Origin',
    })
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('may read replies, streams and errors', async () => {
    const post = (body: object, headers: Record<string, string>) =>
      gateway.post('/v1/chat/completions', body, { authorization, ...headers })
    for (const [body, status] of [
      [{ model: 'm', messages }, 200],
      [{ model: 'm', messages, stream: true }, 200],
      [{ model: 'nope', messages }, 404],
    ] as const) {
      const reply = await post(body, { origin })
      expect(reply.status).toBe(status)
      expect(reply.headers.get('access-control-allow-origin')).toBe(origin)
      expect(reply.headers.get('access-control-expose-headers')).toContain('x-request-id')
      await reply.text()
    }
    const models = await get('/v1/models', { headers: { authorization, origin } })
    expect(models.headers.get('access-control-allow-origin')).toBe(origin)
    const wrong = await get('/v1/chat/completions', { headers: { origin } })
    expect(wrong.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test('may not when they are not named, and nowhere else', async () => {
    const other = { ...asks, origin: 'https://evil.example.com' }
    const preflight = await get('/v1/messages', { method: 'OPTIONS', headers: other })
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    for (const path of ['/api/v1/auth/logout', '/console', '/healthz']) {
      const options = await get(path, { method: 'OPTIONS', headers: asks })
      expect(options.headers.get('access-control-allow-origin')).toBeNull()
    }
    const off = await get('/v1/messages', { method: 'OPTIONS', headers: asks }, closed)
    expect(off.headers.get('access-control-allow-origin')).toBeNull()
  })
})

test('request ids are the gateway’s where it is told so, and the caller’s are kept', async () => {
  const ids = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const reply = await gateway.post(
      '/v1/chat/completions',
      { model: 'm', messages },
      { authorization, 'x-request-id': 'mesh-1' },
    )
    expect(reply.status).toBe(200)
    ids.add(reply.headers.get('x-request-id') ?? '')
  }
  expect(ids.size).toBe(3)
  expect(ids).not.toContain('mesh-1')
  const rows = await eventually(async () => {
    const found = await gateway.sql`
      select request_id from request_log.request_logs
      where metadata_json ->> 'client_request_id' = 'mesh-1'`
    return found.length === 3 ? found : undefined
  })
  expect(new Set(rows.map(({ request_id }) => request_id))).toEqual(ids)
  const listed = await get('/v1/models', { headers: { authorization, 'x-request-id': 'mesh-1' } })
  expect(listed.headers.get('x-request-id')).not.toBe('mesh-1')
  const odd = await gateway.post(
    '/v1/chat/completions',
    { model: 'm', messages },
    { authorization, 'x-request-id': 'ü' },
  )
  expect(odd.status).toBe(200)
})
