import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [
      { id: 'base', routes: [{ provider: 'sim', upstream_model: 's' }] },
      { id: 'quick', alias_of: 'base', tags: ['b', 'a', 'c'] },
    ],
  })
})
afterAll(() => gateway?.stop())

async function ask(model: string) {
  const messages = [{ role: 'user', content: 'hi' }]
  const response = await gateway.post('/v1/chat/completions', { model, messages })
  return { status: response.status, id: response.headers.get('x-request-id') ?? '' }
}

async function logged(id: string) {
  return await eventually(async () => {
    const [row] = await gateway.sql`
      select model_key, resolved_model_key, metadata_json ->> 'selected_model_key' as selected
      from request_log.request_logs where request_id = ${id}`
    return row
  })
}

test('each spelling of a tag selector is one model key, and the log names what it picked', async () => {
  for (const model of ['tag:b,a', 'tag: a , b', 'tag:a,b,a']) {
    const { status, id } = await ask(model)
    expect(status).toBe(200)
    expect(await logged(id)).toEqual({
      model_key: 'tag:a,b',
      resolved_model_key: 'base',
      selected: 'quick',
    })
  }
  expect((await ask('tag:nothing')).status).toBe(404)
  const rows = await gateway.sql`
    select model_key, requests::int as requests from accounting.usage_rollups`
  expect([...rows]).toEqual([{ model_key: 'tag:a,b', requests: 3 }])
})

test('a model that is asked for by name is not a selected one', async () => {
  expect(await logged((await ask('quick')).id)).toMatchObject({
    model_key: 'quick',
    selected: null,
  })
})
