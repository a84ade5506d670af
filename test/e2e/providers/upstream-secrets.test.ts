/** Upstreams that repeat the credentials of the call in an error that has no error status. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../../kernel/plugin/index.ts'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { json, type Reply, sse, startUpstream, type Upstream } from '../../harness/upstream.ts'

const SECRET = 'upstream-token-canary-1'
const bearer = { mode: 'bearer', token: `literal.${SECRET}` }

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const { origin } = new URL(upstream.url)
  const cloudB = (api_style: string) => ({
    id: api_style,
    routes: [
      { provider: 'b', upstream_model: 'claude-x', compatibility: { cloud_b_ml: { api_style } } },
    ],
  })
  const pricing_provider_id = 'own'
  gateway = await startTestGateway({
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: bearer,
        pricing_provider_id,
      },
      { id: 'a', type: 'cloud_a_ml', project_id: 'p', api_host: origin, auth: bearer },
      { id: 'b', type: 'cloud_b_ml', region: 'us-east-1', endpoint_url: origin, auth: bearer },
    ],
    models: [
      { id: 'generic', routes: [{ provider: 'up', upstream_model: 'gpt-x' }] },
      { id: 'google', routes: [{ provider: 'a', upstream_model: 'google/gemini-x' }] },
      { id: 'publisher', routes: [{ provider: 'a', upstream_model: 'anthropic/claude-x' }] },
      cloudB('edge_native_messages'),
    ],
  })
})
beforeEach(() => upstream.clear())
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const error = { code: 'x', message: `bad key ${SECRET}, sent as "Bearer ${SECRET}"` }
const inStream = (data: JsonObject, event = '') =>
  sse([`${event === '' ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`])
const failed = { id: 'resp_1', object: 'response', status: 'failed', output: [], error }
const nativeError = { type: 'error', error: { ...error, type: 'api_error' } }
const chat = '/v1/chat/completions'

const cases: [string, string, string, boolean, Reply][] = [
  ['status 200 with an error alone', chat, 'generic', false, json({ error })],
  ['an error that is a text', chat, 'generic', false, json({ error: error.message })],
  ['an error beside choices', chat, 'generic', false, json({ choices: [], error })],
  ['an error event', chat, 'generic', true, inStream({ error })],
  ['an error event for messages', '/v1/messages', 'generic', true, inStream({ error })],
  ['a failed response', '/v1/responses', 'generic', false, json(failed)],
  [
    'a streamed response that fails',
    '/v1/responses',
    'generic',
    true,
    inStream({ type: 'response.failed', response: failed }, 'response.failed'),
  ],
  [
    'a streamed response with an error of its own',
    '/v1/responses',
    'generic',
    true,
    inStream({ type: 'error', ...error }, 'error'),
  ],
  ['an embeddings error', '/v1/embeddings', 'generic', false, json({ error })],
  ['an error of Google', chat, 'google', false, json({ error })],
  ['an error in a stream of Google', chat, 'google', true, inStream({ error })],
  ['an error of native messages', chat, 'publisher', true, inStream(nativeError, 'error')],
  ['the same at the edge', chat, 'edge_native_messages', true, inStream(nativeError, 'error')],
]

test.each(cases)('%s', async (_, path, model, stream, reply) => {
  upstream.script(reply)
  const body = {
    '/v1/responses': { input: 'q' },
    '/v1/embeddings': { input: 'q' },
  }[path] ?? { max_tokens: 9, messages: [{ role: 'user', content: 'q' }] }
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model, ...body, ...(stream ? { stream } : {}) }),
  })
  const text = await response.text()
  expect(text).not.toContain(SECRET)
  expect(text).toContain('bad key [redacted]')
  expect(JSON.stringify(upstream.journal.calls.at(-1)?.headers)).toContain(SECRET)
})
