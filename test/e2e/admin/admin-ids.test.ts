import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator', pricing_provider_id: 'sim' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'sim',
          model: 'simulator-1',
          input_usd_per_million: '1',
          output_usd_per_million: '3',
        },
      ],
    },
  })
  admin = await adminClient(gateway)
})
afterAll(() => gateway.stop())

const root = '/api/v1/admin'

test('a key is found by its name and by what is shown of it', async () => {
  const key = await admin.post<{ api_key_id: string; api_key: string }>(`${root}/api-keys`, {
    name: 'Found in a log',
    owner: { kind: 'user', user_id: admin.userId },
    granted_models: ['demo'],
  })
  const [shown = ''] = key.api_key.split('.')
  for (const search of [shown, shown.toUpperCase(), shown.slice(4), 'in a LOG']) {
    const path = `${root}/api-keys?search=${encodeURIComponent(search)}`
    expect(await admin.get(path)).toMatchObject({
      total: 1,
      items: [{ api_key_id: key.api_key_id }],
    })
  }
})

test('budgets and filters take ids in capitals', async () => {
  const { userId } = admin
  const USER_ID = userId.toUpperCase()
  const scope = { kind: 'user', user_id: USER_ID }
  const body = { scope, cadence: 'daily', amount_usd: '0.000000000001' }
  expect(await admin.put<object>(`${root}/spend/budgets`, body)).toMatchObject({
    scope: { user_id: userId },
    scope_key: `budget:v1:user:${userId}`,
  })
  const { api_key } = await admin.post<{ api_key: string }>(`${root}/api-keys`, {
    name: 'caller',
    owner: { kind: 'user', user_id: userId },
    granted_models: ['demo'],
  })
  const chat = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }
  await gateway.post('/v1/chat/completions', chat, { authorization: `Bearer ${api_key}` })
  const total = async (path: string) =>
    (await admin.get<{ total: number }>(`${root}/${path}`)).total || undefined
  await eventually(() => total(`observability/request-logs?user_id=${userId}`))
  for (const list of ['spend/budgets', 'observability/request-logs']) {
    expect([list, await total(`${list}?user_id=${USER_ID}`)]).toEqual([list, 1])
  }
  expect(await total(`spend/rejected-charges?owner_id=${USER_ID}`)).toBe(1)
  expect(await admin.post<object>(`${root}/spend/budgets/deactivate`, { scope })).toMatchObject({
    active: false,
    scope: { user_id: userId },
  })
})

test('ids in capitals are the same ids, also to the audit log', async () => {
  const team = await admin.post<{ team_id: string }>(`${root}/teams`, { key: 'ops', name: 'Ops' })
  const TEAM_ID = team.team_id.toUpperCase()
  const user = await admin.post<{ user_id: string }>(`${root}/users`, {
    name: 'Bob',
    email: 'bob@example.com',
    team: { team_id: TEAM_ID, role: 'owner' },
  })
  const USER_ID = user.user_id.toUpperCase()
  const key = await admin.post<{ api_key_id: string }>(`${root}/api-keys`, {
    name: 'laptop',
    owner: { kind: 'user', user_id: USER_ID },
    granted_models: ['demo'],
  })
  expect(
    await admin.patch<object>(`${root}/users/${USER_ID}`, { team: { team_id: TEAM_ID } }),
  ).toMatchObject({ user_id: user.user_id, team: { team_id: team.team_id, role: 'owner' } })
  const member = `${root}/teams/${TEAM_ID}/members/${USER_ID}`
  expect(await admin.put<object>(member, { role: 'admin' })).toMatchObject({ role: 'admin' })
  await admin.delete(member)
  await admin.post(`${root}/api-keys/${key.api_key_id.toUpperCase()}/revoke`)
  await admin.delete(`${root}/teams/${TEAM_ID}`)

  const actions = async (id: string) => {
    const path = `${root}/audit-log?object_id=${id}`
    const { items } = await admin.get<{ items: { action: string }[] }>(path)
    return items.map(({ action }) => action)
  }
  expect(await actions(TEAM_ID)).toEqual(await actions(team.team_id))
  expect(await actions(team.team_id)).toEqual([
    'team.delete',
    'team.remove_member',
    'team.set_member',
    'team.create',
  ])
  expect(await actions(user.user_id)).toEqual(['user.update', 'user.create'])
  expect(await actions(key.api_key_id)).toEqual(['api_key.revoke', 'api_key.create'])
})
