import { afterAll, beforeAll, expect, test } from 'bun:test'
import { commands } from '../../../kernel/plugin/index.ts'
import { type AdminClient, adminClient, adminPassword } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
beforeAll(async () => {
  gateway = await startTestGateway({
    server: { trusted_proxies: ['127.0.0.1'] },
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
  })
  admin = await adminClient(gateway)
})
afterAll(() => gateway.stop())

const login = (email: string, password: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url, ...headers },
    body: JSON.stringify({ email, password }),
  })
const cookiesOf = (reply: Response) =>
  reply.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')

async function guess(email: string, times: number) {
  let last = await login(email, 'wrong')
  for (let i = 1; i < times; i++) last = await login(email, 'wrong')
  return last
}

interface Entry {
  readonly actor_email: string | null
  readonly action: string
  readonly object_kind: string
  readonly object_id: string
  readonly address: string | null
  readonly user_agent: string | null
  readonly outcome: string | null
  readonly occurrences: number
}

const entryOf = (query: string) =>
  eventually(async () => {
    const { items } = await admin.get<{ items: Entry[] }>(`/api/v1/admin/audit-log?${query}`)
    return items[0]
  })

test('guesses at a password lock strangers out, not a browser that has signed in', async () => {
  const { email } = await adminClient(gateway, { email: 'guessed@example.com' })
  const cookie = cookiesOf(await login(email, adminPassword))
  const refused = await guess(email, 7)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_attempts' } })
  expect((await login(email, adminPassword, { cookie })).status).toBe(200)
}, 60_000)

test('gateway admin unlock lets an account in again while the gateway runs', async () => {
  const { email, userId } = await adminClient(gateway, { email: 'locked@example.com' })
  await guess(email, 12)
  const unlock = gateway.registry.all(commands).find(({ name }) => name === 'admin unlock')
  const out: string[] = []
  await unlock?.run(['--email', 'Locked@example.com'], (line) => out.push(line))
  expect(out).toEqual(['failed sign-ins of locked@example.com were reset'])
  await eventually(async () => (await login(email, adminPassword)).status === 200 || undefined)
  expect(await entryOf(`action=user.unlock&object_id=${userId}`)).toMatchObject({
    actor_email: null,
    address: null,
    outcome: 'success',
  })
  await expect(unlock?.run(['--email', 'nobody@example.com'], () => {})).rejects.toThrow(
    'no user has the email address nobody@example.com',
  )
}, 60_000)

test('sign-ins and refusals are in the audit log, with where they came from', async () => {
  const { email, userId } = await adminClient(gateway, { email: 'seen@example.com' })
  const headers = { 'user-agent': 'browser/1', 'x-forwarded-for': '9.9.9.9, 198.51.100.7' }
  await login(email, adminPassword, headers)
  await login(email, 'my secret guess', headers)
  await login('my secret guess', 'my secret guess', headers)
  const from = { address: '198.51.100.7', user_agent: 'browser/1', object_kind: 'user' }
  const signedIn = await entryOf(`action=auth.sign_in&actor_user_id=${userId}`)
  expect(signedIn).toMatchObject({ actor_email: email, outcome: 'success' })
  expect(await entryOf(`action=auth.sign_in_refused&object_id=${userId}`)).toMatchObject({
    ...from,
    actor_email: null,
    outcome: 'invalid_credentials',
    occurrences: 1,
  })
  expect(await entryOf('action=auth.sign_in_refused&object_id=unknown')).toMatchObject(from)
  const logged = gateway.logs.filter(({ action }) => action === 'auth.sign_in_refused')
  expect(logged.find(({ object_id }) => object_id === userId)).toMatchObject({
    level: 40,
    outcome: 'invalid_credentials',
    address: '198.51.100.7',
  })
  expect(JSON.stringify(gateway.logs)).not.toContain('my secret guess')
  const kept = await gateway.sql`select a::text from audit_log.audit_log a`
  expect(JSON.stringify(kept)).not.toContain('my secret guess')
}, 60_000)

test('who opens the payload of a request, or exports the spend, is in the audit log', async () => {
  await gateway.post('/v1/chat/completions', {
    model: 'demo',
    messages: [{ role: 'user', content: 'hello' }],
  })
  const path = '/api/v1/admin/observability/request-logs'
  const id = await eventually(async () => {
    const { items } = await admin.get<{ items: { request_log_id: string }[] }>(path)
    return items[0]?.request_log_id
  })
  await admin.get(`${path}/${id}`)
  await admin.get('/api/v1/admin/spend/focus.csv')
  const by = { actor_email: 'root@example.com', address: '127.0.0.1', outcome: 'success' }
  const read = await entryOf(`action=request_log.payload_read&object_id=${id}`)
  expect(read).toMatchObject({ ...by, object_kind: 'request_log' })
  expect(await entryOf('action=spend.exported')).toMatchObject({ ...by, object_id: 'all' })
})

test('guesses at a key, and uses of a revoked one, are in the audit log', async () => {
  const guessed = `${adaKey.slice(0, -43)}${'A'.repeat(43)}`
  const headers = { authorization: `Bearer ${guessed}`, 'user-agent': 'guesser/1' }
  const paths = ['/v1/models', '/v1/chat/completions', '/mcp/tools', '/api/v1/me']
  for (const [i, path] of paths.entries()) {
    const method = /chat|mcp/.test(path) ? 'POST' : 'GET'
    const body = method === 'POST' ? '{}' : null
    const address = { 'x-forwarded-for': `198.51.100.${i}` }
    const reply = await fetch(`${gateway.url}${path}`, {
      method,
      body,
      headers: { ...headers, ...address },
    })
    expect(await reply.text()).toContain('api_key_secret_mismatch')
  }
  const rows = await eventually(async () => {
    const found = await gateway.sql`
      select address, user_agent from audit_log.audit_log
      where action = 'api_key.refused' and outcome = 'api_key_secret_mismatch' order by address`
    return found.length === 4 ? found : undefined
  })
  expect(new Set(rows.map(({ address }) => address)).size).toBe(4)
  expect(rows.every(({ user_agent }) => user_agent === 'guesser/1')).toBe(true)

  const { items } = await admin.get<{ items: { api_key_id: string }[] }>('/api/v1/admin/api-keys')
  const id = items[0]?.api_key_id
  await admin.post(`/api/v1/admin/api-keys/${id}/revoke`)
  const refused = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${adaKey}` },
  })
  expect(refused.status).toBe(401)
  const used = await eventually(async () => {
    const [row] = await gateway.sql`
      select address from audit_log.audit_log where outcome = 'api_key_revoked' and object_id = ${id ?? ''}`
    return row
  })
  expect(used.address).toBe('127.0.0.1')
  const revoke = await entryOf(`action=api_key.revoke&object_id=${id}`)
  expect([revoke.outcome, revoke.address]).toEqual(['success', '127.0.0.1'])
}, 60_000)
