import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient, readOperations } from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
let lists: readonly string[]
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
  })
  admin = await adminClient(gateway)
  lists = (await readOperations(gateway.url))
    .filter(({ parameters }) => parameters.some(({ name }) => name === 'occurred_at_start'))
    .map(({ path }) => path)
})
afterAll(() => gateway.stop())

async function statuses(instant: string) {
  const query = `occurred_at_start=${encodeURIComponent(instant)}`
  const replies = await Promise.all(lists.map((path) => admin.request('GET', `${path}?${query}`)))
  return replies.map(({ status }, i) => `${lists[i]}: ${status}`)
}

const recently = new Date(Date.now() - 60_000).toISOString().slice(0, -1)

test.each([
  `${recently}Z`,
  `${recently}456789Z`,
  `${recently}z`.replace('T', 't'),
  `${recently}-00:00`,
])('every list begins at %s', async (instant) => {
  expect(lists.length).toBeGreaterThan(4)
  expect(await statuses(instant)).toEqual(lists.map((path) => `${path}: 200`))
})

test.each([
  '2026-02-29T00:00:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T00:00:00+24:00',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-23:00',
])('no list begins at %s, which is no instant', async (instant) => {
  expect(await statuses(instant)).toEqual(lists.map((path) => `${path}: 400`))
})

test.each([
  ['2040-01-31T00:00:00.123456789Z', '2040-01-31T00:00:00.123Z'],
  ['2040-01-31t00:00:00z', '2040-01-31T00:00:00.000Z'],
])('a key expires at %s', async (expires_at, shown) => {
  const owner = { kind: 'user', user_id: admin.userId }
  const body = { name: 'k', owner, granted_models: ['demo'], expires_at }
  const key = await admin.post<{ expires_at: string; api_key_id: string }>(
    '/api/v1/admin/api-keys',
    body,
  )
  expect(key.expires_at).toBe(shown)
  const path = `/api/v1/admin/api-keys/${key.api_key_id}`
  expect(await admin.patch<object>(path, { expires_at })).toMatchObject({ expires_at: shown })
})
