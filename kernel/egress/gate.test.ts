import { afterAll, beforeAll, expect, test } from 'bun:test'
import { OutboundError } from '../plugin/index.ts'
import { createGate, type GateCall } from './gate.ts'

let server: ReturnType<typeof Bun.serve>
let seen: Record<string, string>[] = []
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      seen.push(Object.fromEntries(request.headers))
      if (request.url.endsWith('/away')) return Response.redirect('http://169.254.169.254/', 302)
      return new Response('here')
    },
  })
})
afterAll(() => server.stop(true))

const gate = createGate({
  resolve: async () => {
    throw new Error('names of the operator are the engine’s to resolve')
  },
})

function send(url: string, more: Partial<GateCall> = {}): Promise<Response> {
  const { signal } = new AbortController()
  return gate.send(url, { method: 'GET', headers: {}, policy: 'operator', signal, ...more })
}

async function faultOf(url: string): Promise<string> {
  try {
    await send(url)
  } catch (error) {
    if (error instanceof OutboundError) return error.fault
    throw error
  }
  return 'none'
}

test('a URL of the operator may lead anywhere, including this machine', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await (await send(`http://${host}:${server.port}/v1?a=b`)).text()).toBe('here')
  }
  expect(seen.at(-1)?.['accept-encoding']).toBe('identity')
})

test('no redirect is followed, and no other protocol is spoken', async () => {
  expect((await send(`http://127.0.0.1:${server.port}/away`)).status).toBe(302)
  for (const url of [
    'file:///etc/passwd',
    'data:text/plain,here',
    'ftp://127.0.0.1/',
    `http://user:secret@127.0.0.1:${server.port}/`,
    `http://127.0.0.1:${server.port}/#fragment`,
    'http://',
    'http:/127.0.0.1/',
    '//127.0.0.1/',
    '',
  ]) {
    expect([url, await faultOf(url)]).toEqual([url, 'invalid_url'])
  }
})

test('the proxy is used for URLs of the operator only', async () => {
  seen = []
  const proxy = `http://127.0.0.1:${server.port}`
  expect((await send('http://127.0.0.2:9/v1', { proxy })).status).toBe(200)
  expect(seen.map(({ host }) => host)).toEqual(['127.0.0.2:9'])
  const policy = { allowPrivate: true, allowedCidrs: [] }
  const direct = createGate({ resolve: async () => ['127.0.0.1'] })
  const { signal } = new AbortController()
  const url = `http://registered.test:${server.port}/`
  await direct.send(url, {
    method: 'GET',
    headers: {},
    policy,
    signal,
    proxy: 'http://127.0.0.1:1',
  })
  expect(seen.at(-1)?.host).toBe(`registered.test:${server.port}`)
})
