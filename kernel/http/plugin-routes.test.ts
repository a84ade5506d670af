import { expect, test } from 'bun:test'
import { GatewayError, type HttpRoute } from '../plugin/index.ts'
import { createDoor } from './own-host.ts'
import { createPluginRoutes } from './plugin-routes.ts'

const door = createDoor(
  { hostname: '127.0.0.1', publicBaseUrl: undefined, allowedHosts: undefined },
  new AbortController().signal,
)

function serve(...httpRoutes: HttpRoute[]) {
  const journal: string[] = []
  const app = createPluginRoutes({
    httpRoutes,
    door,
    bodyLimits: { maxBytes: 8, timeoutMs: 1_000 },
    limitIdle: () => void journal.push('open'),
    streams: () => void journal.push('streams'),
    limitAgain: () => void journal.push('limited'),
    fault: (message) => void journal.push(message),
  })
  const ask = (path: string, init?: RequestInit) =>
    app.handle(new Request(`http://localhost${path}`, init))
  return { ask, journal }
}

test('a route gets its parameters and its body, and its reply a request id', async () => {
  const { ask, journal } = serve({
    method: 'POST',
    path: '/things/:id',
    handle: async (call) => Response.json({ id: call.params.id, text: await call.text() }),
  })
  const reply = await ask('/things/a', {
    method: 'POST',
    body: 'hello',
    headers: { 'x-request-id': 'mine' },
  })
  expect(await reply.json()).toEqual({ id: 'a', text: 'hello' })
  expect(reply.headers.get('x-request-id')).toBe('mine')
  expect(journal).toEqual(['open'])
})

test.each([
  ['/files/a/b', 'a/b'],
  ['/files/a%2Fb%3Ac', 'a/b:c'],
  ['/files/a%2', 'a%2'],
  ['/files/', ''],
])('%s: the rest of the path is decoded, too', async (path, rest) => {
  const { ask } = serve({
    method: 'GET',
    path: '/files/*',
    handle: ({ params }) => new Response(params['*']),
  })
  expect(await (await ask(path)).text()).toBe(rest)
})

test('a request id that cannot be kept, and too large a body, are refused', async () => {
  const { ask } = serve({
    method: 'ALL',
    path: '/things',
    handle: async (call) => new Response(await call.text(4)),
  })
  expect((await ask('/things', { headers: { 'x-request-id': 'a b' } })).status).toBe(400)
  expect((await ask('/things', { method: 'PUT', body: 'hello' })).status).toBe(413)
})

test('a GatewayError is answered unchanged, another error as internal_error', async () => {
  const { ask, journal } = serve({
    method: 'GET',
    path: '/:kind',
    handle({ params }) {
      if (params.kind === 'known') throw new GatewayError('not_found', 'no such thing')
      throw new Error('secret detail')
    },
  })
  const known = await ask('/known')
  expect([known.status, await known.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
  const fault = await ask('/fault')
  expect([fault.status, await fault.text()]).toEqual([
    500,
    expect.not.stringContaining('secret detail'),
  ])
  expect(journal).toEqual(['GET /:kind failed'])
})

test('checks the host name if the route asks for it', async () => {
  const handle = () => new Response('page')
  const { ask } = serve(
    { method: 'GET', path: '/page', ownHost: true, handle },
    { method: 'GET', path: '/open', handle },
  )
  const headers = { host: 'elsewhere.example' }
  expect((await ask('/page', { headers })).status).toBe(403)
  expect((await ask('/page', { headers: { host: 'localhost' } })).status).toBe(200)
  expect((await ask('/open', { headers })).status).toBe(200)
})

test('a 401 has a challenge and forbids retries', async () => {
  const { ask } = serve({
    method: 'GET',
    path: '/key',
    handle: () => new Response('', { status: 401 }),
  })
  const { headers } = await ask('/key')
  expect([headers.get('www-authenticate'), headers.get('x-should-retry')]).toEqual([
    'Bearer',
    'false',
  ])
})

test('a stream reports its end', async () => {
  const { ask, journal } = serve({
    method: 'GET',
    path: '/events',
    handle(call) {
      const ended = call.streams()
      journal.push('sent')
      ended()
      return new Response('')
    },
  })
  await ask('/events')
  expect(journal).toEqual(['streams', 'sent', 'limited'])
})
