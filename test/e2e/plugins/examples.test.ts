import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminClient, keyClient } from '../../harness/admin.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { adaKey, eventually } from '../../harness/gateway.ts'
import {
  mergedConfig,
  type PackedGateway,
  packProject,
  runIn,
  startPackedGateway,
  startStandIns,
} from '../../harness/strangers.ts'

const ROOT = join(import.meta.dir, '../../..')

const examples = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted()

/** The one whose dependencies include the others'. */
const FULLEST = 'admin-model-requests'

/** What a stranger has of this project: the tarball, and the examples that are in it. */
const place = mkdtempSync(join(tmpdir(), 'examples-'))
// As root, Postgres runs under another account, which has to get to its files.
chmodSync(place, 0o711)
const folderOf = (example: string) => join(place, 'examples', example)

beforeAll(async () => {
  await packProject(place)
  const [tarball = ''] = readdirSync(place)
  const only = ['-C', place, '--strip-components=1', 'package/examples']
  const tar = Bun.spawnSync(['tar', '-xzf', join(place, tarball), ...only])
  if (tar.exitCode !== 0) throw new Error(tar.stderr.toString())
  renameSync(join(place, tarball), join(folderOf(FULLEST), tarball))
  await runIn(folderOf(FULLEST), ['install'])
  for (const example of examples.filter((name) => name !== FULLEST)) {
    symlinkSync(join(folderOf(FULLEST), 'node_modules'), join(folderOf(example), 'node_modules'))
  }
}, 120_000)
afterAll(() => rmSync(place, { recursive: true, force: true }), 30_000)

test('each kind has an example', () => {
  expect(examples).toEqual([
    FULLEST,
    'api-rerank',
    'check-redactor',
    'mcp-auth-signed-token',
    'middleware-maintenance',
    'pack-kubernetes',
    'provider-brook',
    'sink-sqlite',
  ])
})

test.each(examples)(
  '%s: its tests pass, its example config is valid',
  async (example) => {
    const folder = folderOf(example)
    const main = 'node_modules/model-gateway/plugins/standard/main.ts'
    const [report, checked] = await Promise.all([
      runIn(folder, ['test']),
      runIn(folder, [main, 'check-config', '--config', 'gateway.example.yaml']),
    ])
    expect(report).toMatch(/\n 0 fail/)
    expect(Number(/\n (\d+) pass/.exec(report)?.[1])).toBeGreaterThan(20)
    expect(checked).toContain('is valid')
  },
  60_000,
)

// In one run, because the types of the gateway alone take fifteen seconds of a processor.
test('their types hold, with the options of each', async () => {
  const options = examples.map((example) =>
    readFileSync(join(folderOf(example), 'tsconfig.json'), 'utf8'),
  )
  expect(new Set(options).size).toBe(1)
  const modules = `examples/${FULLEST}/node_modules`
  const config = {
    extends: `./examples/${FULLEST}/tsconfig.json`,
    compilerOptions: { typeRoots: [`${modules}/@types`] },
    include: ['examples', `${modules}/model-gateway/types.d.ts`],
  }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config))
  await runIn(place, [`${modules}/typescript/bin/tsc`, '-p', place])
}, 60_000)

describe('all of them in one gateway', () => {
  const undo: (() => unknown)[] = []
  let gateway: PackedGateway
  let databaseUrl: string

  beforeAll(async () => {
    const database = await createTestDatabase()
    databaseUrl = database.url
    undo.push(() => database.drop())
    const standIns = await startStandIns(
      ['provider-brook', 'api-rerank', 'check-redactor', 'mcp-auth-signed-token'].map(folderOf),
    )
    undo.push(standIns.stop)
    gateway = await startPackedGateway({
      installedIn: folderOf(FULLEST),
      config: mergedConfig(examples.map(folderOf), standIns.portOf),
      databaseUrl,
      folder: place,
      env: { GATEWAY_MCP_SECRET_GREETER: 'try-me' },
    })
    undo.push(gateway.stop)
  }, 60_000)
  afterAll(async () => {
    for (const step of undo.toReversed()) await step()
  }, 30_000)

  test('the provider answers, streams, calls tools and passes on a refusal', async () => {
    const whole = await (await gateway.chat('brook-chat', 'hello')).json()
    expect(whole).toMatchObject({
      choices: [{ message: { content: 'You said: hello' } }],
      usage: { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 3 } },
    })
    const stream = await (await gateway.chat('brook-chat', 'hello', { stream: true })).text()
    expect(stream).toContain('"content":"said: "')
    expect(stream).toEndWith('data: [DONE]\n\n')
    const tools = [{ type: 'function', function: { name: 'look_up' } }]
    const called = await gateway.chat('brook-chat', 'hello', { tools, tool_choice: 'required' })
    const call = { function: { name: 'look_up', arguments: '{"said":"hello"}' } }
    expect(await called.json()).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [call] } }],
    })
    const refused = await gateway.chat('brook-chat', 'too much')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  })

  test('the API reranks: its call is guarded, priced by search units, logged and listed', async () => {
    const documents = ['of hills', 'of rivers', { text: 'write to ada@example.com' }]
    const body = { model: 'rerank-small', query: 'rivers', documents, top_n: 2 }
    const id = crypto.randomUUID()
    const reply = await gateway.post('/vendor/rerank', body, { 'x-request-id': id })
    expect(reply.status).toBe(200)
    const { model, results } = (await reply.json()) as { model: string; results: object[] }
    expect([model, results[0]]).toEqual(['rerank-small', { index: 1, relevance_score: 1 }])
    const denied = await gateway.post('/vendor/rerank', {
      ...body,
      query: 'my card is 4111 1111 1111 1111',
    })
    expect(denied.status).toBe(403)
    expect(await denied.json()).toMatchObject({ error: { code: 'guardrail_denied' } })
    const wrong = await gateway.post('/vendor/rerank', { ...body, documents: 'rivers' })
    expect(wrong.status).toBe(400)
    const message = 'documents must be a non-empty array'
    expect(await wrong.json()).toMatchObject({ error: { message } })
    const unknown = await gateway.post('/vendor/rerank', { ...body, model: 'demo' })
    expect(unknown.status).toBe(400)
    expect(await unknown.json()).toMatchObject({
      error: { message: "model 'demo' has no route that supports: vendor_rerank" },
    })
    const refused = await gateway.post('/vendor/rerank', { ...body, query: 'too much' })
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { message: 'slow down' } })

    const admin = await adminClient({ url: gateway.url, databaseUrl })
    const logged = await eventually(async () => {
      const { items } = await admin.get<{ items: Record<string, unknown>[] }>(
        '/api/v1/admin/observability/request-logs?operation=vendor_rerank',
      )
      return items.length === 5 ? items : undefined
    }, 20_000)
    // Two dollars a thousand.
    expect(logged.find(({ request_id }) => request_id === id)).toMatchObject({
      operation: 'vendor_rerank',
      model_key: 'rerank-small',
      pricing_status: 'priced',
      cost_usd: '0.002',
      prompt_tokens: 1,
    })
    const statuses = logged.map(({ status_code }) => status_code)
    expect(statuses.toSorted()).toEqual([200, 400, 400, 403, 429])
  }, 40_000)

  test('the pack denies an agent’s command, and a tool call that a model made', async () => {
    const judge = async (command: string) => {
      const asked = { tool_name: 'bash', command }
      const reply = await gateway.post('/api/v1/guardrails/evaluate', asked)
      return ((await reply.json()) as { data: object }).data
    }
    expect(await judge('kubectl get pods')).toMatchObject({ action: 'allow' })
    expect(await judge('kubectl delete ns shop')).toMatchObject({
      action: 'deny',
      reason_code: 'kubernetes.deletes_namespace',
    })
    const tool = { type: 'function', function: { name: 'kubernetes__uninstall_release' } }
    const denied = await gateway.chat('demo', 'go on', { tools: [tool], tool_choice: 'required' })
    expect(denied.status).toBe(403)
    expect(await denied.json()).toMatchObject({
      error: { reason_code: 'kubernetes.uninstalls_release' },
    })
  })

  test('the check masks what goes to a provider, and denies', async () => {
    const masked = await (await gateway.chat('brook-chat', '😀 ada@example.com')).json()
    expect(masked).toMatchObject({ choices: [{ message: { content: 'You said: 😀 [email]' } }] })
    const denied = await gateway.chat('brook-chat', 'my card is 4111 1111 1111 1111')
    expect(denied.status).toBe(403)
    expect(await denied.json()).toMatchObject({ error: { reason_code: 'redactor.card_number' } })
  })

  test('the auth mode gives each call of a server a token of its own', async () => {
    const call = { name: 'greet', arguments: { name: 'Ada' } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    for (const _ of ['once', 'and again']) {
      const reply = await gateway.post('/mcp/greeter', message)
      expect(reply.status).toBe(200)
      expect(await reply.json()).toMatchObject({
        result: { content: [{ type: 'text', text: 'Hello, Ada!' }] },
      })
    }
  })

  test('the middleware closes a model, and callers are told when to ask again', async () => {
    const closed = await gateway.chat('old-demo', 'hello')
    expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '3600'])
    const message = expect.stringContaining('closed for maintenance')
    expect(await closed.json()).toMatchObject({ error: { message } })
    expect((await gateway.chat('demo', 'hello')).status).toBe(200)
  })

  test('the sink has what the ledger has, and its command reports it beside the gateway', async () => {
    const id = crypto.randomUUID()
    const body = { model: 'brook-chat', messages: [{ role: 'user', content: 'pay' }] }
    await gateway.post('/v1/chat/completions', body, { 'x-request-id': id })
    // 7 fresh tokens at 1 USD a million, 3 remembered ones at 0.1, 5 written ones at 4.
    const lines = await eventually(async () => {
      const report = await gateway.command('spend-report', '--by', 'model')
      return /\s\d+\s+0\.\d{12}\s+brook-chat\n/.test(report) ? report : undefined
    }, 20_000)
    const [, calls, usd] = /(\d+)\s+(\d+\.\d{12})\s+brook-chat/.exec(lines) ?? []
    const each = 7n * 1_000_000n + 3n * 100_000n + 5n * 4_000_000n
    expect(BigInt(String(usd).replace('.', ''))).toBe(BigInt(String(calls)) * each)
  }, 40_000)

  test('the admin module keeps a request, and its decision is in the audit log', async () => {
    const ada = await keyClient(gateway.url, adaKey)
    const asked = await ada.post<{ request_id: string }>('/api/v1/me/model-requests', {
      model: 'large',
      reason: 'to compare',
    })
    const admin = await adminClient({ url: gateway.url, databaseUrl })
    const requests = '/api/v1/admin/model-requests'
    expect(await admin.get(`${requests}?status=open`)).toMatchObject({
      total: 1,
      items: [{ email: 'ada@example.com', model: 'large' }],
    })
    const decision = { status: 'granted', note: 'until June' }
    await admin.post(`${requests}/${asked.request_id}/decision`, decision)
    expect(await ada.get('/api/v1/me/model-requests')).toMatchObject({
      items: [{ status: 'granted', decided_by: 'root@example.com' }],
    })
    const log = JSON.stringify(await admin.get('/api/v1/admin/audit-log'))
    expect(log).toContain('model_request.decide')
  })
})
