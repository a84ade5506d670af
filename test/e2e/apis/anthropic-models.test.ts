/** The list of models as clients of the messages API read it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const ids = Array.from({ length: 45 }, (_, n) => `org/m${String(n).padStart(2, '0')}`)

let gateway: TestGateway
let client: Anthropic
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: ids.map((id) => ({ id, routes: [{ provider: 'sim', upstream_model: 'm' }] })),
  })
  client = clientFor(adaKey)
})
afterAll(() => gateway?.stop())

const clientFor = (apiKey: string) =>
  new Anthropic({ baseURL: gateway.url, apiKey, authToken: null, maxRetries: 0 })

const idsOf = (page: { readonly data: readonly { readonly id: string }[] }) =>
  page.data.map(({ id }) => id)

test('the first page has 20, each as Anthropic describes it', async () => {
  const page = await client.models.list()
  expect(idsOf(page)).toEqual(ids.slice(0, 20))
  expect([page.has_more, page.first_id, page.last_id]).toEqual([true, ids[0], ids[19]] as never)
  const [first] = page.data
  expect(first).toEqual({
    type: 'model',
    id: 'org/m00',
    display_name: 'org/m00',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  } as never)
})

test.each([1, 7, 20, 44, 45, 1000])('the client walks through pages of %d', async (limit) => {
  const seen: string[] = []
  for await (const { id } of client.models.list({ limit })) seen.push(id)
  expect(seen).toEqual(ids)
})

test('pages go backwards, too', async () => {
  const page = await client.models.list({ limit: 2, before_id: 'org/m05' })
  expect([idsOf(page), page.has_more]).toEqual([['org/m03', 'org/m04'], true])
  const first = await client.models.list({ limit: 9, before_id: 'org/m05' })
  expect([idsOf(first), first.has_more]).toEqual([ids.slice(0, 5), false])
})

test('behind the last one is an empty page', async () => {
  const { data, has_more, first_id, last_id } = await client.models.list({ after_id: 'org/m44' })
  expect([data, has_more, first_id, last_id]).toEqual([[], false, null, null])
})

test('one model by its id', async () => {
  const model = await client.models.retrieve('org/m07')
  expect(model).toMatchObject({ type: 'model', id: 'org/m07' })
  expect(model._request_id).toMatch(/^[0-9a-f-]{36}$/)
  const error = await client.models.retrieve('gone').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Anthropic.NotFoundError)
  expect(error).toMatchObject({
    error: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
  })
})

test.each([
  ['limit=0', 'limit must be 1 to 1000, got "0"'],
  ['limit=1001', 'limit must be 1 to 1000, got "1001"'],
  ['limit=ten', 'limit must be 1 to 1000, got "ten"'],
  ['after_id=gone', 'after_id: this key has no access to a model "gone"'],
  ['after_id=org/m01&before_id=org/m03', 'before_id and after_id are mutually exclusive'],
])('%s is a bad request in the words of the messages API', async (query, message) => {
  const reply = await fetch(`${gateway.url}/v1/models?${query}`, {
    headers: { 'x-api-key': adaKey, 'anthropic-version': '2023-06-01' },
  })
  expect([reply.status, await reply.json()]).toMatchObject([
    400,
    { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_request', message } },
  ])
  expect(reply.headers.get('request-id')).toBe(reply.headers.get('x-request-id'))
})

test('a wrong key is an authentication error', async () => {
  const error = await clientFor(`${adaKey}x`)
    .models.list()
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Anthropic.AuthenticationError)
})

test('without the header nothing of it is there', async () => {
  const reply = await fetch(`${gateway.url}/v1/models?limit=2`, {
    headers: { authorization: `Bearer ${adaKey}` },
  })
  const { object, data, ...more } = (await reply.json()) as { object: string; data: object[] }
  expect([object, data.length, more]).toEqual(['list', 45, {}])
  expect(data[0]).toEqual({
    ...{ id: 'org/m00', object: 'model', owned_by: 'gateway' },
    created: expect.any(Number),
  })
})
