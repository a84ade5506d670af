import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import { type AdminClient, adminClient, keyClient } from '../../test/harness/admin.ts'
import { ended } from '../../test/harness/ended.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
} from '../../test/harness/gateway.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../test/harness/otlp.ts'
import { believable, json, startUpstream, type Upstream } from '../../test/harness/upstream.ts'
import { hookCases } from './__fixtures__/hooks.ts'
import { open } from './__fixtures__/word-check.ts'

const MAIN = new URL('../standard/main.ts', import.meta.url).pathname
const fixture = new URL('./__fixtures__/word-check.ts', import.meta.url).pathname
const CANARY = 'canary-4c1e'

let upstream: Upstream
let receiver: OtlpReceiver
let gateway: TestGateway
let admin: AdminClient

const guardrails = {
  default: {
    enabled: true,
    mode: 'deny',
    packs: ['core.shell', 'core.filesystem', 'saas.notion'],
    managed_checks: ['words'],
  },
  managed_checks: {
    words: {
      kind: 'words',
      phases: ['prompt', 'model_response'],
      word_list: { denied_word: 'FORBIDDEN' },
    },
  },
  model_routes: {
    'watched/up/org/u': { mode: 'audit' },
    'free/up/org/u': { enabled: false },
  },
}
const config = () => ({
  server: {
    otel_endpoint: receiver.url,
    otel_export_interval_secs: 1,
    shutdown_grace_secs: 1,
  },
  plugins: [{ use: 'builtin:*' }, { use: fixture }],
  providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
  models: ['m', 'watched', 'free'].map((id) => ({
    id,
    routes: [{ provider: 'up', upstream_model: 'org/u' }],
  })),
  guardrails,
  mcp: {
    servers: [
      {
        server_key: 'team-wiki',
        display_name: 'Wiki',
        server_url: 'https://mcp.notion.com/mcp',
      },
    ],
  },
})

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = startOtlpReceiver()
  open.clear()
  gateway = await startTestGateway(config())
  admin = await adminClient(gateway)
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
  await receiver?.stop()
})
beforeEach(() => upstream.clear())

interface Item {
  readonly decision_id: string
  readonly request_id: string
  readonly evaluator: string
  readonly action: string
  readonly reason_code: string
  readonly [field: string]: unknown
}
interface Page {
  readonly items: readonly Item[]
  readonly total: number
  readonly total_exact: boolean
}

const list = (query: string) => admin.get<Page>(`/api/v1/admin/guardrails/decisions?${query}`)

/** The decisions of a request, in order. */
const decisionsOf = (id: string, atLeast = 1) =>
  eventually(async () => {
    const { items } = await list(`request_id=${id}`)
    return items.length < atLeast ? undefined : items.toReversed()
  })

async function chat(model: string, content: string, tools = false) {
  const tool = {
    type: 'function',
    function: { name: 'bash', parameters: { type: 'object', properties: { command: {} } } },
  }
  const response = await gateway.post('/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content }],
    ...(tools && { tools: [tool] }),
  })
  const id = response.headers.get('x-request-id') ?? ''
  return { status: response.status, body: JSON.parse(await response.text()), id }
}

const shellCall = (command: string) => ({
  id: 'r',
  object: 'chat.completion',
  created: 1,
  model: 'u',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'bash', arguments: JSON.stringify({ command }) },
          },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
})

describe('inference', () => {
  test('a denied prompt names the check and the decision, which is recorded', async () => {
    const { status, body, id } = await chat('m', 'say FORBIDDEN')
    expect(status).toBe(403)
    const [decision] = await decisionsOf(id)
    expect(body.error).toMatchObject({
      code: 'guardrail_denied',
      reason_code: 'word.denied',
      decision_id: decision?.decision_id,
    })
    expect(body.error.message).toContain(decision?.decision_id)
    expect(decision).toMatchObject({
      request_id: id,
      phase: 'prompt',
      scope: 'global',
      mode: 'deny',
      evaluator: 'words',
      managed_service: 'word_list',
      pack_id: null,
      action: 'deny',
      content_sha256: createHash('sha256').update('say FORBIDDEN').digest('hex'),
    })
    expect(upstream.journal.calls).toEqual([])
  })

  test('a masked prompt is what the provider gets', async () => {
    const { status, id } = await chat('m', 'my SECRET')
    expect(status).toBe(200)
    expect(JSON.stringify(upstream.journal.calls[0]?.body)).toContain('my [masked]')
    expect((await decisionsOf(id, 2)).map(({ action }) => action)).toEqual(['transformed', 'allow'])
  })

  test('a generated tool call is judged by the packs, and paid for when it is denied', async () => {
    upstream.script(json(shellCall('rm -rf --no-preserve-root /')))
    const { status, body, id } = await chat('m', 'clean up', true)
    expect(status).toBe(403)
    expect(body.error.message).toContain('core.filesystem')
    expect(body.error.message).not.toContain('no-preserve-root')
    const [prompt, shell, filesystem] = await decisionsOf(id, 3)
    expect(prompt).toMatchObject({ evaluator: 'words', reason_code: 'managed.allow' })
    expect(shell).toMatchObject({ evaluator: 'core.shell', reason_code: 'deterministic.allow' })
    expect(filesystem).toMatchObject({
      evaluator: 'core.filesystem',
      pack_id: 'core.filesystem',
      rule_id: 'rm-recursive',
      phase: 'generated_tool_call',
      action: 'deny',
    })
  })

  test('a route in audit mode passes all of it and records what would have been denied', async () => {
    upstream.script(json(shellCall('rm -rf /')))
    const { status, id } = await chat('watched', 'FORBIDDEN', true)
    expect(status).toBe(200)
    const decisions = await decisionsOf(id, 4)
    expect(decisions.map(({ evaluator, action }) => `${evaluator} ${action}`)).toEqual([
      'words audit',
      'core.shell allow',
      'core.filesystem audit',
      'saas.notes allow',
    ])
    for (const { scope } of decisions) expect(scope).toBe('model_route:watched/up/org/u')
  })

  test('a route without a policy has no decisions', async () => {
    const free = await chat('free', 'FORBIDDEN')
    expect(free.status).toBe(200)
    await decisionsOf((await chat('m', 'later')).id, 2)
    expect((await list(`request_id=${free.id}`)).items).toEqual([])
  })
})

describe('decisions', () => {
  test('filters and pages', async () => {
    for (let i = 0; i < 3; i += 1) await chat('m', 'say FORBIDDEN')
    const { id } = await chat('watched', 'fine')
    await decisionsOf(id, 2)
    const all = await list('')
    expect(all.total).toBeGreaterThanOrEqual(5)
    expect(all.total_exact).toBe(true)
    const ids = all.items.map(({ decision_id }) => decision_id)
    expect(ids).toEqual(ids.toSorted().toReversed())

    const pages = await Promise.all([1, 2].map((page) => list(`page=${page}&page_size=2`)))
    expect(pages.flatMap(({ items }) => items)).toEqual(all.items.slice(0, 4))

    const matches = async (query: string, keep: (item: Item) => boolean) => {
      const expected = all.items.filter(keep)
      expect(expected.length).toBeGreaterThan(0)
      expect((await list(query)).items).toEqual(expected)
    }
    await matches('action=deny', ({ action }) => action === 'deny')
    await matches('evaluator=words&phase=prompt', (item) => item.phase === 'prompt')
    await matches('scope=model_route:watched/up/org/u', ({ scope }) => scope !== 'global')
    const middle = all.items[2]?.occurred_at as string
    const from = (item: Item) => (item.occurred_at as string) >= middle
    await matches(`occurred_at_start=${middle}`, from)
    await matches(`occurred_at_end=${middle}`, (item) => !from(item))
  })

  test.each([
    'phase=nowhere',
    'action=shrug',
    'nothing=1',
    'occurred_at_start=yesterday',
    'occurred_at_start=2026-02-30T00:00:00Z',
    'occurred_at_start=2026-01-02T00:00:00Z&occurred_at_end=2026-01-01T00:00:00Z',
    'page=1000&page_size=200',
  ])('refused: %s', async (query) => {
    const [status, code] = await admin.refused('GET', `/api/v1/admin/guardrails/decisions?${query}`)
    expect([status, code]).toEqual([400, 'invalid_request'])
  })

  test('decisions wait in the spool until they can be written', async () => {
    await gateway.sql`alter table guardrails.guardrail_decisions rename to away`
    const { id, status } = await chat('m', 'say FORBIDDEN')
    expect(status).toBe(403)
    await eventually(async () => {
      const ready = await (await fetch(`${gateway.url}/readyz`)).text()
      return ready.includes('"spool_depth":1') ? true : undefined
    }, 10_000)
    await gateway.sql`alter table guardrails.away rename to guardrail_decisions`
    const [decision] = await eventually(async () => {
      const { items } = await list(`request_id=${id}`)
      return items.length > 0 ? items : undefined
    }, 10_000)
    expect(decision?.action).toBe('deny')
  }, 30_000)
})

test('policies are listed as they are in force, with rules and without settings of checks', async () => {
  const { policies, managed_checks, packs, decisions_retention_days } = await admin.get<{
    policies: object[]
    managed_checks: object[]
    packs: { id: string; rules: { id: string }[] }[]
    decisions_retention_days: number
  }>('/api/v1/admin/guardrails/policies')
  const packIds = ['core.shell', 'core.filesystem', 'saas.notes']
  const global = {
    scope: 'global',
    enabled: true,
    mode: 'deny',
    packs: packIds,
    managed_checks: ['words'],
    on_deny: 'error',
    stream_buffer_bytes: 4_194_304,
    stream_buffer_timeout_ms: 120_000,
  }
  expect(policies).toEqual([
    global,
    { ...global, scope: 'model_route:watched/up/org/u', mode: 'audit' },
    { ...global, scope: 'model_route:free/up/org/u', enabled: false },
  ])
  expect(managed_checks).toEqual([
    {
      name: 'words',
      kind: 'word_list',
      phases: ['prompt', 'model_response'],
      timeout_ms: 2_000,
      failure_disposition: 'fail_open',
      max_content_bytes: 262_144,
    },
  ])
  expect(packs.map(({ id }) => id)).toContain('cloud.provider_b')
  expect(packs.find(({ id }) => id === 'core.filesystem')?.rules.map(({ id }) => id)).toContain(
    'rm-recursive',
  )
  expect(decisions_retention_days).toBe(30)
})

describe('explain', () => {
  const explain = (body: object) =>
    admin.post<{
      packs: {
        pack_id: string
        in_policy: boolean
        reading: unknown
        rules: { id: string; matched: boolean }[]
      }[]
      evaluators: { evaluator: string; action: string }[]
      tree: { kind: string; text: string; children?: { kind: string; value?: string }[] }[] | null
      verdict: { action: string; allowed: boolean; matched_rule: { rule_id: string } | null }
    }>('/api/v1/admin/guardrails/explain', body)

  test('a command: what the packs read, each rule, and the verdict', async () => {
    const { packs, tree, verdict } = await explain({ command: 'cd /tmp && sudo rm -rf x' })
    expect(tree?.map(({ kind, text }) => [kind, text])).toEqual([['list', '&&']])
    expect(JSON.stringify(packs)).not.toContain('"tree"')
    const pack = packs.find(({ pack_id }) => pack_id === 'core.filesystem')
    expect(pack?.in_policy).toBe(true)
    expect(JSON.stringify(pack?.reading)).toContain('"executable":"rm"')
    expect(pack?.rules.filter(({ matched }) => matched)).toEqual([
      { id: 'rm-recursive', matched: true },
    ])
    expect(packs.find(({ pack_id }) => pack_id === 'core.git')?.in_policy).toBe(false)
    expect(verdict).toMatchObject({
      action: 'deny',
      allowed: false,
      matched_rule: { rule_id: 'rm-recursive' },
    })
  })

  test('a tool call, a text, another scope', async () => {
    const call = { tool_name: 'archive_page', arguments: { id: '1' }, server: 'notion' }
    expect(await explain(call)).toMatchObject({ tree: null, verdict: { allowed: false } })
    // The registry identifies the server by its host.
    const wiki = await explain({ ...call, server: 'team-wiki' })
    expect(wiki).toMatchObject({ verdict: { allowed: false } })
    expect((await explain({ text: 'FORBIDDEN' })).evaluators).toMatchObject([
      { evaluator: 'words', action: 'deny' },
    ])
    const watched = 'model_route:watched/up/org/u'
    expect((await explain({ text: 'FORBIDDEN', scope: watched })).verdict).toMatchObject({
      action: 'audit',
      allowed: true,
    })
    const free = 'model_route:free/up/org/u'
    expect((await explain({ command: 'rm -rf /', scope: free })).verdict.allowed).toBe(true)
    expect((await explain({ command: 'ls\0' })).verdict.allowed).toBe(false)
  })

  test('writes nothing down', async () => {
    const reply = await admin.request('POST', '/api/v1/admin/guardrails/explain', {
      command: 'rm -rf /',
    })
    await decisionsOf((await chat('m', 'later')).id, 2)
    expect((await list(`request_id=${reply.headers.get('x-request-id')}`)).items).toEqual([])
  })

  test.each([
    [{}, 400],
    [{ command: 'ls', text: 'x' }, 400],
    [{ tool_name: 'f' }, 400],
    [{ command: 'ls', scope: 'nowhere' }, 400],
    [{ command: 7 }, 422],
    [{ command: 'ls', more: 1 }, 422],
  ])('refused: %j', async (body, expected) => {
    const [status] = await admin.refused('POST', '/api/v1/admin/guardrails/explain', body)
    expect(status).toBe(expected)
  })
})

describe('evaluate', () => {
  const path = '/api/v1/guardrails/evaluate'
  const caller = () => keyClient(gateway.url, adaKey)

  test('a denied command', async () => {
    const client = await caller()
    const reply = await client.request('POST', path, { tool_name: 'Bash', command: 'rm -rf /' })
    expect(reply.data).toEqual({
      decision_id: expect.any(String),
      action: 'deny',
      allowed: false,
      matched_rule: {
        pack_id: 'core.filesystem',
        rule_id: 'rm-recursive',
        matched_field: expect.any(String),
        reason_code: expect.any(String),
        description: expect.any(String),
        safer_action: expect.any(String),
      },
      reason_code: expect.any(String),
      transformed: false,
    })
    const decisions = await decisionsOf(reply.headers.get('x-request-id') ?? '', 2)
    expect(decisions.at(-1)).toMatchObject({ phase: 'harness_pre_tool', scope: 'global' })
    expect(decisions.at(-1)?.decision_id).toBe((reply.data as Item).decision_id)
  })

  test('allowed, by arguments, by vector, and what nothing can be read of', async () => {
    const client = await caller()
    const verdict = async (body: object) =>
      await client.post<{ action: string; reason_code: string }>(path, body)
    expect(await verdict({ tool_name: 'Bash', command: 'ls' })).toMatchObject({
      action: 'allow',
      reason_code: 'deterministic.allow',
    })
    const archive = { tool_name: 'archive_page', arguments: { id: 1 } }
    expect(await verdict(archive)).toMatchObject({ action: 'allow' })
    expect(await verdict({ ...archive, server: 'notion' })).toMatchObject({ action: 'deny' })
    expect(await verdict({ ...archive, server: 'team-wiki' })).toMatchObject({ action: 'deny' })
    expect(await verdict({ tool_name: 'x', command: ['rm', '-rf', '/'] })).toMatchObject({
      action: 'deny',
    })
    expect(await verdict({ tool_name: 'Bash', command: 'ls \0' })).toMatchObject({
      action: 'deny',
      reason_code: 'command.uninspectable',
    })
    expect(
      await verdict({ tool_name: 'Bash', arguments: { command: 'x'.repeat(900_000) } }),
    ).toMatchObject({ reason_code: 'command.uninspectable' })
  })

  test.each([
    [{ tool_name: 'Bash' }],
    [{ tool_name: 'Bash', command: 'ls', arguments: {} }],
    [{ command: 'ls' }],
    [{ tool_name: '', command: 'ls' }],
    [{ tool_name: 'Bash', command: 7 }],
    [{ tool_name: 'Bash', command: ['ls', 7] }],
    [{ tool_name: 'Bash', arguments: [] }],
    [{ tool_name: 'Bash', arguments: '{}' }],
    [{ tool_name: 'Bash', command: 'ls', server: 1 }],
    [{ tool_name: 'Bash', command: 'ls', mode: 'audit' }],
    [[]],
    ['{'],
  ])('refused: %j', async (body) => {
    const client = await caller()
    const [status, code] = await client.refused('POST', path, body)
    expect([status, code]).toEqual([400, 'invalid_request'])
  })

  test.each([
    [{ tool_name: 'Bash', command: 'ls', mode: 'audit' }, 'mode'],
    [{ tool: 'Bash', command: 'ls' }, 'tool'],
    [{ tool_name: 'Bash', commands: ['ls'] }, 'commands'],
  ])('an unknown field is named: %j', async (body, field) => {
    const reply = await (await caller()).request('POST', path, body)
    expect(reply.text).toContain(`${field} is not a known member`)
    expect(reply.text).toContain('tool_name')
  })

  test('without a key, or with an unknown format, nothing is said', async () => {
    const nobody = await keyClient(gateway.url)
    const body = { tool_name: 'Bash', command: 'ls' }
    expect((await nobody.refused('POST', path, body))[0]).toBe(401)
    const client = await caller()
    expect((await client.refused('POST', `${path}?format=vim`, body))[0]).toBe(400)
    expect((await client.refused('POST', `${path}?format=codex`, {}))[0]).toBe(400)
  })

  test.each(hookCases.map((each) => [each.format, each] as const))(
    'the command `gateway guard --format %s` answers as the agent expects',
    async (format, agent) => {
      const run = async (hook: object) => {
        const child = Bun.spawn([process.execPath, MAIN, 'guard', '--format', format], {
          env: { ...process.env, GATEWAY_URL: gateway.url, GATEWAY_API_KEY: adaKey },
          stdin: new Blob([JSON.stringify(hook)]),
          stdout: 'pipe',
          stderr: 'pipe',
        })
        const { out, err, code } = await ended(child)
        expect(err).toBe('')
        expect(code).toBe(0)
        return out.trim()
      }
      const denied = agent.reasonOf(JSON.parse(await run(agent.shell('sudo rm -rf /srv/data'))))
      expect(denied).toMatch(
        /^denied by core\.filesystem, rule rm-recursive: .+ Decision [0-9a-f-]{36}\.$/,
      )
      expect(await run(agent.shell('echo "rm -rf /"'))).toBe(agent.allowed)
      const archived = await run(agent.mcp('notion', 'archive_page', { id: '1' }))
      expect(agent.reasonOf(JSON.parse(archived))).toContain('saas.notes')
    },
    30_000,
  )
})

test('judged content is not in decisions, logs or telemetry', async () => {
  const client = await keyClient(gateway.url, adaKey)
  upstream.script(json(shellCall(`rm -rf ${CANARY}-call`)))
  const ids = [
    (await chat('m', `FORBIDDEN ${CANARY}-prompt`)).id,
    (await chat('m', `THROW ${CANARY}-fault`)).id,
    (await chat('m', 'hello', true)).id,
  ]
  upstream.script(believable({ text: `FORBIDDEN ${CANARY}-reply` }))
  ids.push((await chat('watched', 'hello')).id)
  for (const body of [
    { tool_name: `Bash`, command: `rm -rf ${CANARY}-command` },
    { tool_name: `${CANARY}-tool`, arguments: { [`${CANARY}-name`]: `${CANARY}-value` } },
  ]) {
    const reply = await client.request('POST', '/api/v1/guardrails/evaluate', body)
    expect(reply.text).not.toContain(CANARY)
    ids.push(reply.headers.get('x-request-id') ?? '')
  }
  for (const id of ids) await decisionsOf(id)
  const rows = await gateway.sql`select * from guardrails.guardrail_decisions`
  expect(rows.length).toBeGreaterThan(ids.length)
  expect(
    JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  ).not.toContain(CANARY)
  expect(JSON.stringify(gateway.logs)).not.toContain(CANARY)
  const points = await eventually(async () => {
    const found = receiver.points.filter(({ metric }) => metric.startsWith('gateway.guardrails.'))
    return found.some(({ labels }) => labels.phase === 'harness_pre_tool') ? found : undefined
  })
  expect(receiver.bodies.join()).not.toContain(CANARY)
  expect(new Set(points.map(({ metric }) => metric))).toEqual(
    new Set(['gateway.guardrails.decisions', 'gateway.guardrails.decision.duration']),
  )
  const denied = points.filter(
    ({ metric, labels }) => metric === 'gateway.guardrails.decisions' && labels.action === 'deny',
  )
  expect(denied.length).toBeGreaterThan(0)
})

test('another config is in force at once, and the checks of the one before are gone', async () => {
  const before = await admin.get<{ config_version: string }>('/api/v1/admin/guardrails/policies')
  expect(open.size).toBe(1)
  const [old] = open
  const text = stringify({
    ...config(),
    users: [ada],
    database: { url: `literal.${gateway.databaseUrl}` },
    guardrails: { ...guardrails, default: { ...guardrails.default, mode: 'audit' } },
  })
  expect(await gateway.reload({ text, file: 'gateway.yaml' })).toEqual([])
  const after = await admin.get<typeof before>('/api/v1/admin/guardrails/policies')
  expect(after.config_version).not.toBe(before.config_version)
  expect((await chat('m', 'say FORBIDDEN')).status).toBe(200)
  expect(open.size).toBe(1)
  expect(open.has(old as never)).toBe(false)

  const broken = text.replace('core.shell', 'core.shel')
  expect(await gateway.reload({ text: broken, file: 'gateway.yaml' })).toHaveLength(1)
  expect(open.size).toBe(1)
  const still = await admin.get<typeof before>('/api/v1/admin/guardrails/policies')
  expect(still.config_version).toBe(after.config_version)
})

test('calls of agents are not judged if the default policy is disabled', async () => {
  const text = stringify({
    ...config(),
    users: [ada],
    database: { url: `literal.${gateway.databaseUrl}` },
    guardrails: { ...guardrails, default: { ...guardrails.default, enabled: false } },
  })
  expect(await gateway.reload({ text, file: 'gateway.yaml' })).toEqual([])
  const client = await keyClient(gateway.url, adaKey)
  const asked = { tool_name: 'Bash', command: 'rm -rf /' }
  expect(await client.post<object>('/api/v1/guardrails/evaluate', asked)).toEqual({
    decision_id: null,
    action: 'allow',
    allowed: true,
    transformed: false,
  })
})
