import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminClient, adminPassword, keyClient } from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const bootstrap_admin = { email: 'root@example.com', password: `literal.${adminPassword}` }

let gateway: TestGateway
let proxied: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ auth: { bootstrap_admin } })
  proxied = await startTestGateway({
    auth: { bootstrap_admin },
    server: { public_base_url: 'https://gateway.example.com' },
  })
})
afterAll(async () => {
  await proxied.stop()
  await gateway.stop()
})

const login = (
  { url }: TestGateway,
  body: object = { email: 'root@example.com', password: adminPassword },
  headers: Record<string, string> = { origin: url },
) =>
  fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('the admin of the config signs in, is known, and signs out', async () => {
  const admin = await adminClient(gateway)
  expect(await admin.get('/api/v1/auth/session')).toMatchObject({
    user: { user_id: admin.userId, email: 'root@example.com', role: 'platform_admin' },
  })
  await admin.post('/api/v1/auth/logout')
  expect((await admin.refused('GET', '/api/v1/auth/session')).slice(0, 2)).toEqual([
    401,
    'session_required',
  ])
})

test('the cookie is out of reach for scripts, other sites and, on https, for plain connections', async () => {
  const plain = (await login(gateway)).headers.getSetCookie()
  expect(plain).toEqual([
    expect.stringMatching(
      /^gateway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/,
    ),
    expect.stringMatching(
      /^gateway_device=[\w-]{22}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    ),
  ])
  const response = await login(proxied, undefined, { origin: 'https://gateway.example.com' })
  const [cookie = '', device] = response.headers.getSetCookie()
  expect(device).toMatch(/^__Host-gateway_device=.*; HttpOnly; SameSite=Lax; .*; Secure$/)
  expect(cookie).toMatch(
    /^__Host-gateway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure$/,
  )
  const ask = (name: string) =>
    fetch(`${proxied.url}/api/v1/auth/session`, {
      headers: { cookie: `${name}=${/=([\w-]+)/.exec(cookie)?.[1]}` },
    })
  expect((await ask('__Host-gateway_session')).status).toBe(200)
  expect((await ask('gateway_session')).status).toBe(401)
})

test('signing out removes the cookie', async () => {
  const [signedIn = ''] = (await login(gateway)).headers.getSetCookie()
  const [cookie = ''] = signedIn.split(';', 1)
  const headers = { cookie, origin: gateway.url }
  const left = await fetch(`${gateway.url}/api/v1/auth/logout`, { method: 'POST', headers })
  expect(left.headers.getSetCookie()).toEqual([
    'gateway_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
  ])
})

test('a sign-in renews the session: the one before ends', async () => {
  const first = await login(gateway)
  const cookie = first.headers.getSetCookie()[0]?.split(';', 1)[0] as string
  const second = await login(gateway, undefined, { origin: gateway.url, cookie })
  const renewed = second.headers.getSetCookie()[0]?.split(';', 1)[0] as string
  expect(renewed).not.toBe(cookie)
  const statusWith = async (value: string) =>
    (await fetch(`${gateway.url}/api/v1/auth/session`, { headers: { cookie: value } })).status
  expect(await statusWith(cookie)).toBe(401)
  expect(await statusWith(renewed)).toBe(200)
})

test('another site can sign a user neither in nor out', async () => {
  for (const headers of [{ origin: 'https://evil.example' }, {}]) {
    const response = await login(gateway, undefined, headers as Record<string, string>)
    expect(response.status).toBe(403)
    expect(response.headers.getSetCookie()).toEqual([])
  }
})

test('a wrong and an unknown sign-in read the same; guessing on has to wait', async () => {
  const nobody = await keyClient(gateway.url)
  const attempt = (email: string) =>
    nobody.request('POST', '/api/v1/auth/login', { email, password: 'wrong horse battery' })
  const wrong = await attempt('root@example.com')
  const unknown = await attempt('nobody@example.com')
  expect(wrong.status).toBe(401)
  expect(wrong.error).toMatchObject({ code: 'invalid_credentials' })
  expect({ ...wrong.error, request_id: '' }).toEqual({ ...unknown.error, request_id: '' } as never)
  for (let i = 0; i < 5; i++) await attempt('guessed@example.com')
  const results = [await attempt('guessed@example.com'), await attempt('guessed@example.com')]
  expect(results.at(-1)?.headers.get('retry-after')).toBe('1')
  expect(results.at(-1)?.error).toMatchObject({ code: 'too_many_attempts' })
})

test('with the database away the control plane says so', async () => {
  const other = await startTestGateway({})
  try {
    const admin = await adminClient(other)
    const name = new URL(other.databaseUrl).pathname.slice(1)
    await gateway.sql.unsafe(`alter database ${name} allow_connections false`)
    await gateway.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    expect((await admin.refused('GET', '/api/v1/admin/users')).slice(0, 2)).toEqual([
      503,
      'store_unavailable',
    ])
    await gateway.sql.unsafe(`alter database ${name} allow_connections true`)
  } finally {
    await other.stop()
  }
}, 20_000)
