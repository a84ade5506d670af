/** Which route, and which model of a tag, a messages request takes when not each can serve it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../../kernel/plugin/index.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = (upstream_model: string, json_schema: boolean) => ({
    provider: 'up',
    upstream_model,
    priority: json_schema ? 2 : 1,
    capabilities: { json_schema },
  })
  const native = { provider: 'native', upstream_model: 'claude', priority: 3 }
  gateway = await startTestGateway({
    plugins: [
      { use: 'builtin:*' },
      { use: new URL('./__fixtures__/native-messages.ts', import.meta.url).pathname },
    ],
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url },
      { id: 'native', type: 'native_echo' },
    ],
    models: [
      { id: 'plain', rank: 1, tags: ['any'], routes: [route('plain', false)] },
      { id: 'mixed', routes: [route('plain', false), route('schemas', true), native] },
      { id: 'later', rank: 2, tags: ['any'], routes: [native] },
    ],
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** The upstream model of the compatible upstream that was called, or what the caller was told. */
async function taken(body: JsonObject): Promise<string> {
  upstream.clear()
  const messages = [{ role: 'user', content: 'q' }]
  const response = await gateway.post('/v1/messages', { max_tokens: 9, messages, ...body })
  const reply = (await response.json()) as { id?: string; error?: { message: string } }
  if (reply.error !== undefined) return `${response.status} ${reply.error.message}`
  const sent = upstream.journal.calls[0]?.body as JsonObject | undefined
  return sent === undefined ? String(reply.id) : String(sent.model)
}

const schema = { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }
const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }

test.each<[string, JsonObject, string]>([
  ['the first route', {}, 'plain'],
  ['the first with json_schema', schema, 'schemas'],
  ['the native one for its tool', search, 'msg_native'],
  ['the native one for its field', { container: 'c1' }, 'msg_native'],
])('a request takes %s', async (_, body, route) => {
  expect(await taken({ model: 'mixed', ...body })).toBe(route)
})

test('a model of a tag that cannot serve the request is skipped', async () => {
  expect(await taken({ model: 'tag:any' })).toBe('plain')
  expect(await taken({ model: 'tag:any', ...search })).toBe('msg_native')
})

test('a model without another route is refused as before', async () => {
  expect(await taken({ model: 'plain', ...schema })).toMatch(/^400 output_config\.format: .*schema/)
  expect(await taken({ model: 'plain', ...search })).toMatch(
    /^400 tools: the upstream of this model/,
  )
})

test('a content without a block is named', async () => {
  for (const role of ['user', 'assistant']) {
    expect(await taken({ model: 'plain', messages: [{ role, content: [] }] })).toStartWith(
      '400 messages.0.content ',
    )
  }
})
