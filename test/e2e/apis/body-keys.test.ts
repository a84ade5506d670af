import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = {
    provider: 'up',
    upstream_model: 'u',
    extra_body: { top_secret: true },
    compatibility: { generic_compat: { supports_stream_usage: true } },
  }
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [route] }],
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const messages = [{ role: 'user', content: 'hi' }]
const surfaces = [
  ['/v1/chat/completions', { model: 'm', messages }],
  ['/v1/responses', { model: 'm', input: 'hi' }],
  ['/v1/messages', { model: 'm', max_tokens: 9, messages }],
  ['/v1/embeddings', { model: 'm', input: 'hi' }],
] as const

interface Failed {
  readonly error?: { readonly code: string; readonly message: string }
}

/** The body with one more member, as text. */
async function post(path: string, body: object, member: string) {
  upstream.clear()
  const text = `${JSON.stringify(body).slice(0, -1)},${member}}`
  const response = await gateway.post(path, text)
  const reply = await response.text()
  const { error } = (response.ok ? {} : JSON.parse(reply)) as Failed
  return { status: response.status, error, calls: upstream.journal.calls }
}

async function expectRefused(path: string, body: object, member: string, message: string) {
  const { status, error, calls } = await post(path, body, member)
  expect(status).toBe(400)
  expect(error?.code).toBe('invalid_request')
  expect(error?.message).toStartWith(message)
  expect(calls).toHaveLength(0)
}

describe('a body', () => {
  const [path, body] = surfaces[0]

  test.each([
    ['"m\\u006fDEL":"big"', 'moDEL: write it model'],
    ['"\u017fervice_tier":"priority"', '\u017fervice_tier: write it service_tier'],
    ['"Fallbac\u212as":["big"]', 'Fallbac\u212as: write it fallbacks'],
    ['"\u0130nput":"x"', '\u0130nput: write it input'],
    ['"mode\\u006c":"big"', 'model: is in the body twice'],
    ['"x":1,"x":2', 'x: is in the body twice'],
  ])('with %s is refused by name', (member, message) => expectRefused(path, body, member, message))

  test('may have unknown members that differ in case alone', async () => {
    expect((await post(path, body, '"x_id":1,"X_ID":2')).status).toBe(200)
  })

  test('cannot turn off the counting of tokens by another case', async () => {
    const { status, calls } = await post(
      path,
      body,
      '"stream":true,"stream_options":{"Include_Usage":false,"other":1}',
    )
    expect(status).toBe(200)
    expect(calls[0]?.body).toMatchObject({ stream_options: { other: 1, include_usage: true } })
    expect(calls[0]?.rawBody).not.toContain('Include_Usage')
  })
})

describe.each(surfaces)('a body for %s', (path, body) => {
  test('with a known member in another case, or twice, is refused', async () => {
    await expectRefused(path, body, '"Model":"big"', 'Model: write it model')
    await expectRefused(path, body, '"model":"big"', 'model: is in the body twice')
  })

  if (path === '/v1/messages') return
  test('cannot undo what the route sets by another case', () =>
    expectRefused(path, body, '"Top_Secret":false', 'Top_Secret: the route sets top_secret'))
})
