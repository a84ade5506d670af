import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient, keyClient, signIn } from '../../harness/admin.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const config = {
  providers: [{ id: 'sim', type: 'simulator' }],
  models: ['demo', 'other'].map((id) => ({
    id,
    routes: [{ provider: 'sim', upstream_model: 'simulator-1' }],
  })),
}

/** Two gateways that share nothing but a database. */
let first: TestGateway
let second: TestGateway
let admin: AdminClient
beforeAll(async () => {
  first = await startTestGateway(config)
  second = await startTestGateway(config, { databaseUrl: first.databaseUrl })
  admin = await adminClient(first)
})
afterAll(async () => {
  await second.stop()
  await first.stop()
})

async function ask(gateway: TestGateway, key: string, model = 'demo') {
  const response = await gateway.post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'Hello' }] },
    { authorization: `Bearer ${key}` },
  )
  if (response.status === 200) return 'served'
  return ((await response.json()) as { error: { code: string } }).error.code
}

interface Made {
  user_id: string
  team_id: string
  service_account_id: string
  api_key_id: string
  api_key: string
}

let names = 0
async function makeTeam(more: object = {}) {
  return await admin.post<Made>('/api/v1/admin/teams', {
    key: `team-${++names}`,
    name: 'Team',
    ...more,
  })
}
async function makeUser(more: object = {}) {
  const email = `person-${String(++names).padStart(3, '0')}@example.com`
  return await admin.post<Made>('/api/v1/admin/users', { name: 'Person', email, ...more })
}
async function makeKey(userId: string, more: object = {}) {
  return await admin.post<Made>('/api/v1/admin/api-keys', {
    name: 'key',
    owner: { kind: 'user', user_id: userId },
    granted_models: ['demo'],
    ...more,
  })
}

test('an admin makes a team, a user and a service account; their keys work at once, revoked ones nowhere', async () => {
  const team = await makeTeam()
  const user = await makeUser({ team: { team_id: team.team_id, role: 'owner' } })
  const account = await admin.post<Made>('/api/v1/admin/service-accounts', {
    key: 'builder',
    name: 'Builder',
    team_id: team.team_id,
  })
  const userKey = await makeKey(user.user_id, { model_grant_mode: 'all', granted_models: [] })
  const accountKey = await admin.post<Made>('/api/v1/admin/api-keys', {
    name: 'builder',
    owner: { kind: 'service_account', service_account_id: account.service_account_id },
    granted_models: ['demo'],
  })
  expect(await ask(first, accountKey.api_key)).toBe('service_account_budget_required')
  const keyed = await keyClient(first.url, accountKey.api_key)
  for (const path of ['', '/api-keys', '/spend', '/spend/focus.csv', '/budgets', '/usage']) {
    expect((await keyed.refused('GET', `/api/v1/me${path}`)).slice(0, 2)).toEqual([
      403,
      'service_account_budget_required',
    ])
  }
  await admin.put('/api/v1/admin/spend/budgets', {
    scope: { kind: 'service_account', service_account_id: account.service_account_id },
    cadence: 'daily',
    amount_usd: '5',
    hard_limit: true,
    timezone: 'UTC',
  })
  for (const { api_key: key } of [userKey, accountKey]) {
    expect(await ask(first, key)).toBe('served')
    await eventually(async () => ((await ask(second, key)) === 'served' ? true : undefined), 2000)
  }
  expect(await ask(first, accountKey.api_key, 'other')).toBe('model_not_granted')

  for (const { api_key_id: id, api_key: key } of [userKey, accountKey]) {
    await admin.post(`/api/v1/admin/api-keys/${id}/revoke`)
    expect(await ask(first, key)).toBe('api_key_revoked')
    await eventually(
      async () => ((await ask(second, key)) === 'api_key_revoked' ? true : undefined),
      1000,
    )
  }
})

test('a service account can be made with its budget, and then its keys work', async () => {
  const team = await makeTeam()
  const body = { key: 'funded', name: 'Funded', team_id: team.team_id }
  const account = await admin.post<Made>('/api/v1/admin/service-accounts', {
    ...body,
    budget: { cadence: 'daily', amount_usd: '2.5' },
  })
  const { api_key: key } = await admin.post<Made>('/api/v1/admin/api-keys', {
    name: 'funded',
    owner: { kind: 'service_account', service_account_id: account.service_account_id },
    granted_models: ['demo'],
  })
  expect(await ask(first, key)).toBe('served')
  const budgets = `/api/v1/admin/spend/budgets?service_account_id=${account.service_account_id}`
  expect(await admin.get(budgets)).toMatchObject({
    total: 1,
    items: [{ budget_source: 'manual', settings: { amount_usd: '2.5', hard_limit: true } }],
  })
  const again = { ...body, budget: { cadence: 'daily', amount_usd: '1' } }
  expect((await admin.refused('POST', '/api/v1/admin/service-accounts', again))[0]).toBe(409)
})

test('a rotated key has a new secret, and the old one for as long as was said', async () => {
  const user = await makeUser()
  const key = await makeKey(user.user_id)
  const path = `/api/v1/admin/api-keys/${key.api_key_id}/rotate`
  const rotated = await admin.post<Made & { previous_secret_until: string }>(path, {})
  const graceMs = Date.parse(rotated.previous_secret_until) - Date.now()
  expect(graceMs / 3_600_000).toBeCloseTo(24, 1)
  expect(rotated.api_key.split('.')[0]).toBe(key.api_key.split('.')[0] as string)
  expect(await ask(first, key.api_key)).toBe('served')
  expect(await ask(first, rotated.api_key)).toBe('served')

  const again = await admin.post<Made>(path, { grace_secs: 0 })
  expect(await ask(first, key.api_key)).toBe('api_key_secret_mismatch')
  expect(await ask(first, rotated.api_key)).toBe('api_key_secret_mismatch')
  expect(await ask(first, again.api_key)).toBe('served')

  const brief = await admin.post<Made>(path, { grace_secs: 1 })
  expect(await ask(first, again.api_key)).toBe('served')
  await eventually(
    async () => (await ask(first, again.api_key)) === 'api_key_secret_mismatch' || undefined,
  )
  expect(await ask(first, brief.api_key)).toBe('served')

  await admin.post(`/api/v1/admin/api-keys/${key.api_key_id}/revoke`)
  expect((await admin.refused('POST', path, {})).slice(0, 2)).toEqual([409, 'conflict'])
})

test('grants, allowlists and expiry hold from the next call on', async () => {
  const team = await makeTeam()
  const user = await makeUser({ team: { team_id: team.team_id } })
  const key = await makeKey(user.user_id)
  const keyPath = `/api/v1/admin/api-keys/${key.api_key_id}`
  expect(await ask(first, key.api_key, 'other')).toBe('model_not_granted')
  await admin.patch(keyPath, { granted_models: ['demo', 'other'] })
  expect(await ask(first, key.api_key, 'other')).toBe('served')
  expect(await admin.patch<object>(keyPath, { model_grant_mode: 'explicit' })).toMatchObject({
    granted_models: ['demo', 'other'],
  })
  await admin.patch(`/api/v1/admin/teams/${team.team_id}`, {
    model_access: { mode: 'restricted', models: ['demo'] },
  })
  expect(await ask(first, key.api_key, 'other')).toBe('model_not_granted')
  await admin.patch(`/api/v1/admin/users/${user.user_id}`, { team: null })
  expect(await ask(first, key.api_key, 'other')).toBe('served')
  await admin.patch(`/api/v1/admin/users/${user.user_id}`, {
    model_access: { mode: 'restricted', models: [] },
  })
  expect(await ask(first, key.api_key, 'other')).toBe('model_not_granted')
  await admin.patch(`/api/v1/admin/users/${user.user_id}`, { model_access: { mode: 'all' } })
  await admin.patch(keyPath, { expires_at: new Date(Date.now() + 1000).toISOString() })
  expect(await ask(first, key.api_key)).toBe('served')
  await eventually(async () => (await ask(first, key.api_key)) === 'api_key_expired' || undefined)
  // A new secret does not lengthen its life.
  const { api_key: renewed } = await admin.post<Made>(`${keyPath}/rotate`, {})
  expect(await ask(first, renewed)).toBe('api_key_expired')
  await admin.patch(keyPath, { expires_at: null })
  await admin.patch(`/api/v1/admin/users/${user.user_id}`, { status: 'disabled' })
  expect(await ask(first, key.api_key)).toBe('api_key_owner_inactive')
})

test.each([
  '2030-02-31T00:00:00Z',
  '2030-02-29T12:00:00+02:00',
  '2030-01-31T24:00:00Z',
  '9999-12-31T23:59:59Z',
])(
  'a key cannot expire at %s, which is not a valid time or too far in the future',
  async (expires_at) => {
    const user = await makeUser()
    const key = await makeKey(user.user_id, { expires_at: '2032-02-29T23:59:59.5-08:00' })
    const owner = { kind: 'user', user_id: user.user_id }
    const body = { name: 'key', owner, granted_models: ['demo'], expires_at }
    const why = 'must be a valid time before the year 9999; omit it for a key that does not expire'
    const refused = [422, 'validation_failed', `/expires_at: ${why}`]
    expect(await admin.refused('POST', '/api/v1/admin/api-keys', body)).toEqual(refused as never)
    const path = `/api/v1/admin/api-keys/${key.api_key_id}`
    expect(await admin.refused('PATCH', path, { expires_at })).toEqual(refused as never)
  },
)

test('lists have pages and filters', async () => {
  const team = await makeTeam({ name: 'Strange 100%_name' })
  const users = []
  for (let i = 0; i < 3; i++) users.push(await makeUser({ team: { team_id: team.team_id } }))
  interface List {
    items: { user_id: string }[]
    page: number
    page_size: number
    total: number
  }
  const page = (n: number) =>
    admin.get<List>(`/api/v1/admin/users?team_id=${team.team_id}&page_size=2&page=${n}`)
  const [one, two, three] = [await page(1), await page(2), await page(3)]
  expect([one.items.length, two.items.length, three.items.length]).toEqual([2, 1, 0])
  expect([one.total, two.total, three.total]).toEqual([3, 3, 3])
  expect([...one.items, ...two.items].map((item) => item.user_id).toSorted()).toEqual(
    users.map((user) => user.user_id).toSorted(),
  )
  const clamped = await admin.get<List>('/api/v1/admin/users?page_size=100000')
  expect(clamped.page_size).toBe(200)
  const found = await admin.get<{ items: unknown[] }>('/api/v1/admin/teams?search=100%25_N')
  expect(found.items).toMatchObject([{ team_id: team.team_id, member_count: 3 }])
  const members = `/api/v1/admin/teams/${team.team_id}/members`
  expect((await admin.get<List>(members)).total).toBe(3)
  await admin.delete(`${members}/${users[0]?.user_id}`)
  await admin.put(`${members}/${users[1]?.user_id}`, { role: 'admin' })
  expect(await admin.get(members)).toMatchObject({ total: 2, items: [{ role: 'admin' }, {}] })
})

test('each filter of people, programs, keys and changes leaves the others out', async () => {
  const { team_id } = await makeTeam()
  const [user, invited] = [await makeUser(), await makeUser({ status: 'invited' })]
  const makeAccount = (key: string, team: string) =>
    admin.post<Made>('/api/v1/admin/service-accounts', { key, name: `${key} runs`, team_id: team })
  const on = (await makeAccount('night-on', team_id)).service_account_id
  const off = (await makeAccount('day-off', (await makeTeam()).team_id)).service_account_id
  await admin.patch(`/api/v1/admin/service-accounts/${off}`, { status: 'disabled' })
  const soon = new Date(Date.now() + 200).toISOString()
  const active = (await makeKey(user.user_id, { name: 'Mine alone' })).api_key_id
  const expired = (await makeKey(user.user_id, { expires_at: soon })).api_key_id
  const revoked = (await makeKey(invited.user_id)).api_key_id
  await admin.post(`/api/v1/admin/api-keys/${revoked}/revoke`)
  await Bun.sleep(Math.max(0, Date.parse(soon) - Date.now() + 1))
  const wrong: string[] = []
  for (const [query, inside, outside] of [
    ['users?role=platform_admin', admin.userId, user.user_id],
    ['users?role=user', user.user_id, admin.userId],
    ['users?status=invited', invited.user_id, user.user_id],
    [`service-accounts?team_id=${team_id}`, on, off],
    ['service-accounts?status=disabled', off, on],
    ['service-accounts?search=NIGHT', on, off],
    ['api-keys?status=active', active, expired],
    ['api-keys?status=active', active, revoked],
    ['api-keys?status=expired', expired, active],
    ['api-keys?status=expired', expired, revoked],
    ['api-keys?status=revoked', revoked, expired],
    ['api-keys?search=mine%20ALONE', active, expired],
    [`api-keys?user_id=${user.user_id}`, active, revoked],
    ['audit-log?action=user.create', user.user_id, off],
    ['audit-log?object_kind=service_account', off, user.user_id],
    [`audit-log?actor_user_id=${user.user_id}`, '', off],
  ] as const) {
    const { text } = await admin.request('GET', `/api/v1/admin/${query}&page_size=200`)
    if (!text.includes(inside) || text.includes(outside)) wrong.push(query)
  }
  expect(wrong).toEqual([])
})

test.each([
  ['/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'hi' }] }],
  ['/mcp/nothing', { jsonrpc: '2.0', id: 1, method: 'ping' }],
])(
  'a key that is revoked while the body of a call arrives opens %s no more',
  async (path, body) => {
    const user = await makeUser()
    const key = await makeKey(user.user_id, { model_grant_mode: 'all', granted_models: [] })
    const text = JSON.stringify(body)
    const sent = new ReadableStream<string>({
      async start(controller) {
        controller.enqueue(text.slice(0, 9))
        await Bun.sleep(200)
        await admin.post(`/api/v1/admin/api-keys/${key.api_key_id}/revoke`)
        await Bun.sleep(1200)
        controller.enqueue(text.slice(9))
        controller.close()
      },
    })
    const reply = await fetch(`${first.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.api_key}`, 'content-type': 'application/json' },
      body: sent.pipeThrough(new TextEncoderStream()),
    })
    expect(reply.status).toBe(401)
    expect(await reply.text()).toContain('api_key_revoked')
  },
)

test('a user changes the password, sees own keys and revokes one, and is not an admin', async () => {
  const email = 'self@example.com'
  const user = await makeUser({ email, password: 'first password of self', status: 'invited' })
  const key = await makeKey(user.user_id)
  const foreign = await makeKey((await makeUser()).user_id)
  expect(await ask(first, key.api_key)).toBe('api_key_owner_inactive')
  const self = await signIn(first.url, email, 'first password of self')
  expect(await admin.get(`/api/v1/admin/users/${user.user_id}`)).toMatchObject({ status: 'active' })
  expect(await self.get('/api/v1/me')).toMatchObject({
    authenticated_by: 'session',
    owner: { kind: 'user', email },
    model_access: { mode: 'all' },
  })
  expect(await self.get('/api/v1/me/api-keys')).toMatchObject({
    total: 1,
    items: [{ api_key_id: key.api_key_id }],
  })
  const byKey = await keyClient(first.url, key.api_key)
  expect(await byKey.get('/api/v1/me')).toMatchObject({
    authenticated_by: 'api_key',
    owner: { email },
    api_key: { api_key_id: key.api_key_id, granted_models: ['demo'] },
  })
  const revoke = (id: string) => `/api/v1/me/api-keys/${id}/revoke`
  expect((await byKey.refused('POST', revoke(key.api_key_id))).slice(0, 2)).toEqual([
    401,
    'session_required',
  ])
  const rotate = (id: string) => `/api/v1/me/api-keys/${id}/rotate`
  for (const path of [revoke(foreign.api_key_id), rotate(foreign.api_key_id)]) {
    const body = path.endsWith('rotate') ? {} : undefined
    expect((await self.refused('POST', path, body)).slice(0, 2)).toEqual([404, 'not_found'])
  }
  expect(await ask(first, foreign.api_key)).toBe('served')
  expect(await self.post(revoke(key.api_key_id))).toMatchObject({ status: 'revoked' })
  expect((await self.refused('GET', '/api/v1/admin/users')).slice(0, 2)).toEqual([
    403,
    'insufficient_privileges',
  ])

  const other = await signIn(first.url, email, 'first password of self')
  await self.post('/api/v1/auth/password', {
    current_password: 'first password of self',
    new_password: 'second password of self',
  })
  for (const ended of [self, other]) {
    expect((await ended.refused('GET', '/api/v1/auth/session'))[1]).toBe('session_required')
  }
  await expect(signIn(first.url, email, 'first password of self')).rejects.toThrow('cannot sign in')
  await signIn(first.url, email, 'second password of self')
})

test('a disabled user is signed out on every replica, for good, and a role counts at once', async () => {
  const email = 'second-admin@example.com'
  const { userId } = await adminClient(first, { email })
  const here = await adminClient(first, { email })
  const there = await adminClient(second, { email })
  await there.get('/api/v1/admin/users')
  await admin.patch(`/api/v1/admin/users/${userId}`, { role: 'user' })
  expect((await there.refused('GET', '/api/v1/admin/users'))[1]).toBe('insufficient_privileges')
  await admin.patch(`/api/v1/admin/users/${userId}`, { status: 'disabled' })
  const areOut = async () => {
    for (const client of [here, there]) {
      expect((await client.refused('GET', '/api/v1/auth/session'))[1]).toBe('session_required')
    }
  }
  await areOut()
  await admin.patch(`/api/v1/admin/users/${userId}`, { status: 'active' })
  await areOut()
})

test('a team that a user joins at the same moment is not deleted', async () => {
  const { team_id } = await makeTeam()
  const { user_id } = await makeUser()
  const { deleting } = await first.sql.begin(async (tx) => {
    await tx`select from identity.revision for update`
    const deleting = admin.refused('DELETE', `/api/v1/admin/teams/${team_id}`)
    await eventually(async () => {
      const [row] = await first.sql`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return row?.count > 0 || undefined
    })
    await tx`insert into identity.team_memberships (user_id, team_id) values (${user_id}, ${team_id})`
    return { deleting }
  })
  expect((await deleting).slice(0, 2)).toEqual([409, 'conflict'])
})

test('what is said of the grants of a key decides what becomes of those it had', async () => {
  const { user_id } = await makeUser()
  const key = await makeKey(user_id)
  const path = `/api/v1/admin/api-keys/${key.api_key_id}`
  const all = { model_grant_mode: 'all', granted_models: [] as string[] }
  expect(await admin.patch<object>(path, { model_grant_mode: 'all' })).toMatchObject(all)
  const some = { model_grant_mode: 'explicit', granted_models: ['other'] }
  const twice = { granted_models: ['other', 'other'] }
  expect(await admin.patch<object>(path, twice)).toMatchObject(some)

  const { team_id } = await makeTeam()
  const account = await admin.post<Made>('/api/v1/admin/service-accounts', {
    key: `bot-${++names}`,
    name: 'Bot',
    team_id,
  })
  const owner = { kind: 'service_account', service_account_id: account.service_account_id }
  const body = { name: 'key', owner, ...all }
  expect((await admin.refused('POST', '/api/v1/admin/api-keys', body))[0]).toBe(422)
})

test('an e-mail address is one in any case, and models of an allowlist are named once', async () => {
  const email = `Mixed-${++names}@Example.com`
  const made = await makeUser({
    email,
    model_access: { mode: 'restricted', models: ['demo', 'demo'] },
  })
  expect(made).toMatchObject({
    email: email.toLowerCase(),
    model_access: { mode: 'restricted', models: ['demo'] },
  })
  const again = { name: 'Twin', email: email.toUpperCase() }
  expect((await admin.refused('POST', '/api/v1/admin/users', again))[0]).toBe(409)
  const moved = { email: `Moved-${names}@Example.com` }
  expect(await admin.patch<object>(`/api/v1/admin/users/${made.user_id}`, moved)).toMatchObject({
    email: moved.email.toLowerCase(),
  })
})

test('a role in a team stays while nothing is said of it, and goes with the team', async () => {
  const [one, two] = [await makeTeam(), await makeTeam()]
  const { user_id } = await makeUser({ team: { team_id: one.team_id, role: 'admin' } })
  const move = (team_id: string) =>
    admin.patch<{ team: object }>(`/api/v1/admin/users/${user_id}`, { team: { team_id } })
  expect((await move(one.team_id)).team).toMatchObject({ role: 'admin' })
  expect((await move(one.team_id.toUpperCase())).team).toMatchObject({ role: 'admin' })
  expect((await move(two.team_id)).team).toMatchObject({ role: 'member' })
  const ofAnother = `/api/v1/admin/teams/${one.team_id}/members/${user_id}`
  expect((await admin.refused('DELETE', ofAnother))[0]).toBe(404)
})

test('a team that still has a service account is not deleted', async () => {
  const { team_id } = await makeTeam()
  await admin.post('/api/v1/admin/service-accounts', {
    key: `bot-${++names}`,
    name: 'Bot',
    team_id,
  })
  expect((await admin.refused('DELETE', `/api/v1/admin/teams/${team_id}`))[0]).toBe(409)
})

test('each sees the models that both the own list and that of the team have', async () => {
  const access = (...models: string[]) => ({ model_access: { mode: 'restricted', models } })
  const { team_id } = await makeTeam(access('other'))
  const { user_id } = await makeUser({ ...access('demo', 'other'), team: { team_id } })
  const { api_key } = await makeKey(user_id, { granted_models: ['other'] })
  const me = await (await keyClient(first.url, api_key)).get<object>('/api/v1/me')
  expect(me).toMatchObject(access('other'))
})

test('the last admin who can sign in stays one', async () => {
  const path = `/api/v1/admin/users/${admin.userId}`
  for (const [field, body] of [
    ['role', { role: 'user' }],
    ['status', { status: 'disabled' }],
    ['role', { role: 'user', status: 'active' }],
    ['status', { role: 'platform_admin', status: 'invited' }],
  ] as const) {
    const message = `${field}: this is the last platform admin who can sign in`
    expect(await admin.refused('PATCH', path, body)).toEqual([409, 'conflict', message])
  }
  await admin.get('/api/v1/auth/session')
})

test('the audit log says who did what, without secrets, and only what was done', async () => {
  const user = await makeUser({ password: 'a password nobody sees' })
  const key = await makeKey(user.user_id)
  const rotated = await admin.post<Made>(`/api/v1/admin/api-keys/${key.api_key_id}/rotate`, {})
  await admin.patch(`/api/v1/admin/users/${user.user_id}`, { name: 'New name' })
  await admin.refused('PATCH', `/api/v1/admin/users/${user.user_id}`, {
    name: 'Never',
    model_access: { mode: 'restricted', models: ['nothing'] },
  })
  interface Log {
    items: { action: string; before: { name?: string } | null; after: { name?: string } }[]
    total: number
  }
  const log = await admin.get<Log>(`/api/v1/admin/audit-log?object_id=${user.user_id}`)
  expect(log.items.map(({ action }) => action)).toEqual(['user.update', 'user.create'])
  expect(log.items[0]).toMatchObject({
    actor_email: 'root@example.com',
    before: { name: 'Person' },
    after: { name: 'New name' },
  })
  const all = (await admin.request('GET', '/api/v1/admin/audit-log?page_size=200')).text
  for (const { api_key } of [key, rotated])
    expect(all).not.toContain(api_key.split('.')[1] as string)
  expect(all).not.toContain('a password nobody sees')
  expect(all).not.toContain('argon2')
  const none = await admin.get<Log>(
    '/api/v1/admin/audit-log?occurred_at_end=2020-01-01T00:00:00Z&action=user.create',
  )
  expect(none.total).toBe(0)
})
