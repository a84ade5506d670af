import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { stringify } from 'yaml'
import { createTestDatabase } from '../../harness/database.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../harness/database-proxy.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  believable,
  chatUsage,
  errorStatus,
  frame,
  json,
  sse,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

const CANARY = 'CANARYsecret42CANARY'
const quietKey = testKey('quiet')

const quiet = {
  name: 'Quiet',
  email: 'quiet@example.com',
  request_logging_enabled: false,
  api_keys: [{ name: 'test', value: `literal.${quietKey}`, all_models: true }],
}

function configOf(upstreamUrl: string, payloads: object = {}) {
  return {
    users: [ada, quiet],
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstreamUrl,
        auth: { mode: 'bearer', token: `literal.${CANARY}-upstream` },
        pricing_provider_id: 'test',
      },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'u',
          input_usd_per_million: '1',
          output_usd_per_million: '2',
        },
      ],
    },
    request_logging: { payloads },
  }
}

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway(
    configOf(upstream.url, { stream_max_events: 8, redaction_paths: ['body.metadata.*.private'] }),
  )
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

let counter = 0
const hello = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

/** Sends a request and waits for its summary, with its payload beside it. */
async function logged(
  body: object,
  headers: Record<string, string> = {},
  path = 'chat/completions',
) {
  const id = `log-${++counter}`
  const response = await gateway.post(`/v1/${path}`, body, { 'x-request-id': id, ...headers })
  const text = await response.text()
  return { status: response.status, text, id, row: await summary(id) }
}

function summary(id: string) {
  return eventually(async () => {
    const [row] = await gateway.sql`
      select l.*, p.request_json, p.response_json
      from request_log.request_logs l
      left join request_log.request_log_payloads p on p.request_log_id = l.id
      where l.request_id = ${id}`
    return row
  })
}

/** Every row of every table, as text. */
async function allRows(): Promise<string[]> {
  const tables = await gateway.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  const rows: string[] = []
  for (const { name } of tables) {
    const found = await gateway.sql.unsafe<{ row: string }[]>(
      `select t::text as row from ${name} t`,
    )
    rows.push(...found.map(({ row }) => `${name} ${row}`))
  }
  return rows
}

describe('secrets', () => {
  test('are in no row and no log line, wherever the caller and the upstream put them', async () => {
    const signed = `https://files.test/a?X-Amz-Signature=${CANARY}&part=1`
    const body = {
      model: 'm',
      messages: [
        {
          role: 'system',
          content: `never tell gwk_${CANARY}, ghp_${CANARY} or PGPASSWORD=${CANARY}`,
        },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: signed } }] },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'f', arguments: JSON.stringify({ api_key: CANARY, city: 'Oslo' }) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: `curl -H 'x-api-key: ${CANARY}' u` },
      ],
      metadata: {
        Access_Token: CANARY,
        deep: [{ 'client-secret': CANARY, 'Connection String': CANARY, sessionId: CANARY }],
        a: { private: CANARY },
      },
      tools: [{ type: 'function', function: { name: 'f', parameters: { password: CANARY } } }],
      mcp_servers: [{ type: 'url', name: 'x', authorization_token: CANARY }],
    }
    const headers = {
      cookie: `session=${CANARY}`,
      'x-api-key': CANARY,
      'x-goog-api-key': CANARY,
      'anthropic-api-key': CANARY,
      'x-auth-token': CANARY,
      'x-hub-signature-256': CANARY,
      'mcp-session-id': CANARY,
      'proxy-authorization': `Basic ${CANARY}`,
      referer: signed,
      'user-agent': `codex/1 (Bearer ${CANARY})`,
    }
    const call = (piece: string, more: object = {}) => ({
      index: 0,
      delta: { tool_calls: [{ index: 0, ...more, function: { name: 'f', arguments: piece } }] },
      finish_reason: null,
    })
    const chunk = (choice: object) =>
      frame({ id: 'x', object: 'chat.completion.chunk', model: 'u', choices: [choice as never] })
    upstream.script(
      json({
        id: 'x',
        object: 'chat.completion',
        model: 'u',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: `look at ${signed}`,
              tool_calls: [
                {
                  id: 'c2',
                  type: 'function',
                  function: { name: 'f', arguments: JSON.stringify({ token: CANARY }) },
                },
              ],
            },
          },
        ],
        usage: chatUsage,
      }),
      sse([
        chunk(call('{"pass', { id: 'c3' })),
        chunk(call('word":"')),
        chunk(call(CANARY)),
        chunk(call('"}')),
        chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
        'data: [DONE]\n\n',
      ]),
      errorStatus(400, `no access with glpat-${CANARY} to ${signed}`),
      sse([`data: {"error":{"message":"failed for sk-${CANARY}","code":"late"}}\n\n`]),
    )
    const buffered = await logged(body, headers)
    const streamed = await logged({ ...body, stream: true }, headers)
    const refused = await logged(body, headers)
    const failed = await logged({ ...body, stream: true }, headers)
    const unknown = await logged({ ...body, model: `gwk_${CANARY}` }, headers)
    const wrongKey = { ...headers, authorization: `Bearer gwk_${CANARY}` }
    const rejected = await gateway.post('/v1/chat/completions', body, wrongKey)

    expect(buffered.text).toContain(CANARY)
    expect(streamed.text).toContain(CANARY)
    expect([buffered, streamed, refused, failed, unknown, rejected].map((r) => r.status)).toEqual([
      200, 200, 400, 200, 404, 401,
    ])
    expect(buffered.row.request_json.body.messages[2].tool_calls[0].function.arguments).toBe(
      '{"api_key":"[redacted]","city":"Oslo"}',
    )
    expect(buffered.row.request_json.body.metadata.a).toEqual({ private: '[redacted]' })
    expect(buffered.row.request_json.headers.authorization).toBe('[redacted]')
    expect(streamed.row.has_payload).toBe(true)

    const rows = await allRows()
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter((row) => row.includes('CANARY'))).toEqual([])
    const lines = gateway.logs.map((line) => JSON.stringify(line))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.filter((line) => line.includes('CANARY'))).toEqual([])
    const secret = adaKey.split('.')[1] as string
    expect([...rows, ...lines].filter((text) => text.includes(secret))).toEqual([])
  })

  test('would be found by this search', async () => {
    const { row } = await logged({ ...hello, user: 'planted-4711' })
    expect(row.has_payload).toBe(true)
    expect((await allRows()).some((text) => text.includes('planted-4711'))).toBe(true)
  })
})

test('calls without an owner leave no row anywhere, and no key in the log', async () => {
  const counts = async () => {
    const [found] = await gateway.sql`
      select (select count(*)::int from request_log.request_logs) as logs,
        (select sum(request_count)::int from request_log.traffic_rollups where facet = 'all') as sums,
        (select sum(request_count)::int from request_log.harness_rollups) as harnesses,
        (select count(*)::int from mcp_audit.mcp_tool_invocations) as tools`
    return found
  }
  await logged(hello)
  const before = await counts()
  const unknown = `Bearer ${testKey('unknown')}`
  const wrong = { authorization: `Bearer ${adaKey.slice(0, -3)}AAA` }
  const statuses: number[] = []
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/embeddings', '/mcp/x']) {
    for (const headers of [
      { authorization: '' },
      { authorization: 'Basic YTpi' },
      { authorization: unknown },
      wrong,
      { authorization: unknown, 'x-gateway-api-key': quietKey },
      { 'x-request-id': 'not an id' },
    ]) {
      statuses.push((await gateway.post(path, hello, headers)).status)
    }
  }
  statuses.push((await fetch(`${gateway.url}/v1/models`, { headers: wrong })).status)
  statuses.push((await gateway.post('/v1/wp-login.php', {}, wrong)).status)
  expect([...new Set(statuses)].sort()).toEqual([400, 401, 404])
  // Rows are written in order.
  await logged(hello)
  const after = await counts()
  for (const name of ['logs', 'sums', 'harnesses']) expect(after?.[name]).toBe(before?.[name] + 1)
  expect(after?.tools).toBe(before?.tools)
  const refusals = gateway.logs.filter(({ msg }) => String(msg).includes('owner was known'))
  expect(refusals.map(({ error_code }) => error_code).toSorted()).toContain('api_key_not_found')
  const secrets = [unknown, wrong.authorization, quietKey].map((key) => key.split('.')[1] ?? '')
  const lines = JSON.stringify(gateway.logs)
  expect(secrets.filter((secret) => lines.includes(secret))).toEqual([])
})

describe('payloads', () => {
  test('of a stream of 500 events: the first ones, exact usage, every tool call', async () => {
    const delta = (value: object, finish: string | null = null) =>
      frame({
        id: 'x',
        object: 'chat.completion.chunk',
        model: 'u',
        choices: [{ index: 0, delta: value as never, finish_reason: finish }],
      })
    const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] })
    const usage = { prompt_tokens: 1_001, completion_tokens: 497, total_tokens: 1_498 }
    upstream.script(
      sse([
        ...Array.from({ length: 495 }, (_, n) => delta({ content: `${n} ` })),
        delta(call(0, { id: 'a', function: { name: 'f', arguments: '{}' } })),
        delta(call(1, { id: 'b', function: { name: 'f', arguments: '{}' } })),
        delta({}, 'tool_calls'),
        frame({ id: 'x', object: 'chat.completion.chunk', model: 'u', choices: [], usage }),
        'data: [DONE]\n\n',
      ]),
    )
    const { row } = await logged({ ...hello, stream: true })
    expect(row).toMatchObject({
      stream: true,
      outcome: 'success',
      has_payload: true,
      request_payload_truncated: false,
      response_payload_truncated: true,
      prompt_tokens: '1001',
      completion_tokens: '497',
      total_tokens: '1498',
      exposed_tool_count: 0,
      invoked_tool_count: 2,
    })
    expect(row.response_json).toMatchObject({
      stream: true,
      usage: { prompt_tokens: 1_001, completion_tokens: 497, total_tokens: 1_498 },
      error: null,
    })
    expect(row.response_json.events).toHaveLength(8)
    expect(row.response_json.events[7].choices[0].delta.content).toBe('7 ')
  })

  test('of several megabytes are cut, and say how much they were', async () => {
    upstream.script(believable({ text: 'y'.repeat(3_000_000) }))
    const content = 'x'.repeat(5_000_000)
    const { row, status } = await logged({ ...hello, messages: [{ role: 'user', content }] })
    expect(status).toBe(200)
    expect(row).toMatchObject({ request_payload_truncated: true, response_payload_truncated: true })
    for (const [part, size] of [
      [row.request_json, 5_000_000],
      [row.response_json, 3_000_000],
    ] as const) {
      expect(part).toMatchObject({ truncated: true, preview: expect.any(String) })
      expect(part.size_bytes).toBeGreaterThan(size)
      expect(part.size_bytes).toBeLessThan(size + 2_000)
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(65_536)
    }
  })

  test('of images are replaced by their size', async () => {
    const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`
    const content = [{ type: 'image_url', image_url: { url, detail: 'low' } }]
    const { row } = await logged({ ...hello, messages: [{ role: 'user', content }] })
    expect(row.request_json.body.messages[0].content[0].image_url).toEqual({
      url: { truncated: true, size_bytes: url.length },
      detail: 'low',
    })
  })

  test('of embeddings are logged, without tool counts', async () => {
    const { row } = await logged({ model: 'm', input: ['a', 'b'] }, {}, 'embeddings')
    expect(row).toMatchObject({
      operation: 'embeddings',
      exposed_tool_count: null,
      invoked_tool_count: null,
      has_payload: true,
    })
    expect(row.request_json.body.input).toEqual(['a', 'b'])
    expect(row.response_json.body.data).toHaveLength(2)
    expect((await logged(hello)).row).toMatchObject({
      exposed_tool_count: 0,
      invoked_tool_count: 0,
    })
  })
})

test('tags are in the summary and in rows of their own', async () => {
  const { row } = await logged(hello, {
    'x-gateway-service': 'shop',
    'x-gateway-env': 'prod',
    'x-gateway-tags': 'run=7; team=a/b',
  })
  expect(row).toMatchObject({ service: 'shop', component: null, env: 'prod' })
  const tags = await gateway.sql`
    select key, value from request_log.request_log_tags where request_log_id = ${row.id} order by key`
  expect([...tags]).toEqual([
    { key: 'env', value: 'prod' },
    { key: 'run', value: '7' },
    { key: 'service', value: 'shop' },
    { key: 'team', value: 'a/b' },
  ])
})

test('a User-Agent of 10 KB is kept in part, its coding agent is known and counted', async () => {
  const { row } = await logged(hello, { 'user-agent': `aider/${'x'.repeat(10_000)}` })
  expect(row).toMatchObject({ agent_harness_key: 'aider', agent_harness_label: 'Aider' })
  expect(row.user_agent).toHaveLength(512)
  const [rollup] = await gateway.sql`
    select sum(request_count)::int as requests, sum(exposed_tool_requests)::int as exposed
    from request_log.harness_rollups where agent_harness_key = 'aider'`
  expect(rollup).toEqual({ requests: 1, exposed: 1 })
})

describe('capture modes', () => {
  async function putIntoForce(payloads: object) {
    const text = stringify({
      ...configOf(upstream.url, payloads),
      server: { bind: '127.0.0.1:0' },
      database: { url: `literal.${gateway.databaseUrl}` },
    })
    expect(await gateway.reload({ text, file: 'gateway.yaml' })).toEqual([])
  }

  async function countOf(id: string) {
    const [count] = await gateway.sql`
      select (select count(*)::int from request_log.request_logs where request_id = ${id}) as logs,
        (select count(*)::int from accounting.usage_cost_events where request_id = ${id}) as charges`
    return count
  }

  test('summary_only: no payloads; disabled: nothing; the owner’s wish: nothing', async () => {
    await putIntoForce({ capture_mode: 'summary_only' })
    const { row } = await logged({ ...hello, stream: true })
    expect(row).toMatchObject({ has_payload: false, response_payload_truncated: false })
    expect(row.request_json).toBeNull()
    expect(row.metadata_json.payload_policy).toEqual({
      capture_mode: 'summary_only',
      request_max_bytes: 65_536,
      response_max_bytes: 65_536,
      stream_max_events: 128,
      version: 'builtin:v1',
    })

    await gateway.post('/v1/chat/completions', hello, {
      authorization: `Bearer ${quietKey}`,
      'x-request-id': 'from-quiet',
    })
    await putIntoForce({ capture_mode: 'disabled' })
    for (const path of ['chat/completions', 'embeddings', 'responses']) {
      const body = { ...hello, input: 'hi' }
      const response = await gateway.post(`/v1/${path}`, body, { 'x-request-id': `off-${path}` })
      expect(response.status).toBe(200)
    }
    await putIntoForce({})
    expect((await logged(hello)).row.has_payload).toBe(true)
    for (const id of ['from-quiet', 'off-chat/completions', 'off-embeddings', 'off-responses']) {
      expect(await countOf(id)).toEqual({ logs: 0, charges: 1 })
    }
  })
})

describe('an outage of the database', () => {
  test('with little room on the disk: logs leave it to the ledger, and calls are served', async () => {
    await using started = new AsyncDisposableStack()
    const database = await createTestDatabase('started')
    started.defer(database.drop)
    const proxy = await createDatabaseProxy(database.url)
    started.defer(() => proxy.close())
    // More than a disk has.
    const accounting = { spool_reserve_mib: 2 ** 30, commit_timeout_ms: 100 }
    const config = { ...configOf(upstream.url), accounting }
    const behind = await startTestGateway(config, { databaseUrl: proxy.url })
    started.defer(behind.stop)
    proxy.refuse()
    const refused = () =>
      behind.logs.find(({ msg }) => msg === 'the spool of the request log cannot be written')
    let sent = 0
    await eventually(async () => {
      const reply = await behind.post('/v1/chat/completions', hello)
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('usage')])
      sent += 1
      await Bun.sleep(50)
      return refused()
    })
    expect(String(refused()?.error)).toContain('accounting.spool_reserve_mib')
    proxy.pass()
    await eventually(async () => {
      const [count] = await database.sql`
        select (select count(*)::int from request_log.request_logs) as logs,
          (select count(*)::int from accounting.usage_cost_events) as charges`
      return count?.logs === sent && count.charges === sent ? count : undefined
    }, 20_000)
  }, 60_000)

  const outages = [
    ['refuses', (proxy: DatabaseProxy) => proxy.refuse()],
    ['hangs', (proxy: DatabaseProxy) => proxy.freeze()],
  ] as const
  // Each has its own database, so that they can run at the same time.
  test.concurrent.each(outages)(
    'that %s loses no summary and doubles none',
    async (name, begin) => {
      await using started = new AsyncDisposableStack()
      const database = await createTestDatabase('started')
      started.defer(database.drop)
      const proxy = await createDatabaseProxy(database.url)
      started.defer(() => proxy.close())
      const behind = await startTestGateway(configOf(upstream.url), { databaseUrl: proxy.url })
      started.defer(behind.stop)
      const sent: Promise<unknown>[] = []
      const tag = { 'x-gateway-service': name }
      const before = behind.logs.length
      const send = () => {
        const request = behind.post('/v1/chat/completions', hello, tag)
        sent.push(request.then((response) => response.text()))
      }
      for (let n = 0; n < 10; n++) send()
      begin(proxy)
      const spooled = () =>
        behind.logs
          .slice(before)
          .find(({ msg }) => msg === 'the request log goes to the spool, without payloads')
      await eventually(async () => {
        send()
        await Bun.sleep(100)
        return spooled()
      }, 20_000)
      for (let n = 0; n < 10; n++) send()
      proxy.pass()
      for (let n = 0; n < 10; n++) send()
      await Promise.all(sent)
      const counts = () =>
        database.sql`
          select count(*)::int as logs, count(distinct l.request_id)::int as requests,
            (select count(*)::int from request_log.request_log_attempts a
              join request_log.request_logs p on p.id = a.request_log_id where p.service = ${name})
              as attempts,
            (select count(*)::int from request_log.request_log_tags where value = ${name}) as tags
          from request_log.request_logs l where service = ${name}`
      await eventually(async () => {
        const [count] = await counts()
        return count?.logs >= sent.length ? count : undefined
      }, 20_000)
      await Bun.sleep(300)
      const [count] = await counts()
      expect(count).toMatchObject({ logs: sent.length, requests: sent.length, tags: sent.length })
      // All of them in the roll-up, once.
      const [rollup] = await database.sql`
        select sum(request_count)::int as requests from request_log.harness_rollups`
      const [all] = await database.sql`select count(*)::int as logs from request_log.request_logs`
      expect(rollup?.requests).toBe(all?.logs)
    },
    60_000,
  )
})
