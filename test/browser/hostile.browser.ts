import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adaKey, eventually } from '../harness/gateway.ts'
import { testDesk } from './harness.ts'

const desk = testDesk({ requests: 300 })

/** Markup that would run if it was set as HTML, with the place where it was planted. */
const evil = (where: string) =>
  `${where}<img src=x onerror="window.owned=1"><script>window.owned=1</script>"'><svg onload=owned=1>`
const REQUEST = 'hostile-request'
const ids = { user: '', team: '', account: '', key: '', log: '', server: '', call: '' }

beforeAll(async () => {
  await plantPeople()
  await plantRequests()
  await plantLedger()
  await plantGuardrailsAndMcp()
})

async function plantPeople(): Promise<void> {
  const team = await desk.admin.post<{ team_id: string }>('/api/v1/admin/teams', {
    key: 'evil',
    name: evil('team'),
  })
  const user = await desk.admin.post<{ user_id: string }>('/api/v1/admin/users', {
    name: evil('user'),
    email: '<b>evil</b>@example.com',
    team: { team_id: team.team_id },
  })
  const account = await desk.admin.post<{ service_account_id: string }>(
    '/api/v1/admin/service-accounts',
    {
      key: 'evil',
      name: evil('account'),
      team_id: team.team_id,
      budget: { cadence: 'daily', amount_usd: '0.000001' },
    },
  )
  const key = await desk.admin.post<{ api_key_id: string }>('/api/v1/admin/api-keys', {
    name: evil('key'),
    owner: { kind: 'user', user_id: user.user_id },
    model_grant_mode: 'all',
  })
  await desk.admin.put('/api/v1/admin/spend/budgets', {
    scope: { kind: 'user_model', user_id: user.user_id, upstream_model: evil('budgeted') },
    cadence: 'daily',
    amount_usd: '0.01',
  })
  Object.assign(ids, {
    user: user.user_id,
    team: team.team_id,
    account: account.service_account_id,
    key: key.api_key_id,
  })
}

/**
 * Makes calls with markup in everything that callers can send, and plants markup in other columns.
 */
async function plantRequests(): Promise<void> {
  for (const model of ['demo', evil('model')]) {
    await fetch(`${desk.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adaKey}`,
        'content-type': 'application/json',
        'user-agent': evil('agent'),
        ...(model === 'demo' && { 'x-request-id': REQUEST }),
      },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: evil('question') }],
        [evil('member')]: { [evil('deeper')]: evil('value') },
      }),
    }).then((response) => response.text())
  }
  ids.log = await eventually(async () => {
    const rows = await desk.sql<{ id: string; request_id: string }[]>`
      select id, request_id from request_log.request_logs where user_agent like 'agent%'`
    return rows.length === 2 ? rows.find((row) => row.request_id === REQUEST)?.id : undefined
  })
  await desk.sql`
    update request_log.request_logs set user_id = ${ids.user}, team_id = ${ids.team},
      api_key_id = ${ids.key}, provider_key = ${evil('provider')},
      upstream_model = ${evil('upstream')}, error_code = ${evil('code')},
      error_message = ${evil('message')}, agent_harness_label = ${evil('harness')},
      agent_harness_key = 'evil', service = 'evil'
    where request_id = ${REQUEST}`
  await desk.sql`
    insert into request_log.request_log_tags (request_log_id, occurred_at, request_id, key, value)
    select id, occurred_at, request_id, ${evil('tag')}, ${evil('tagged')}
    from request_log.request_logs where request_id = ${REQUEST}`
  await desk.sql`
    update request_log.request_log_attempts set provider_key = ${evil('provider')},
      upstream_model = ${evil('upstream')}, error_code = ${evil('code')},
      error_message = ${evil('message')} where request_id = ${REQUEST}`
  for (const [facet, key] of [
    ['model', evil('model')],
    ['provider', evil('provider')],
    ['owner', `user:${ids.user}`],
  ] as const) {
    await desk.sql`
      update request_log.traffic_rollups set key = ${key} where (facet, key) = (
        select facet, key from request_log.traffic_rollups where facet = ${facet}
        order by bucket_start desc limit 1)`
  }
  await desk.sql`
    update request_log.harness_rollups set agent_harness_label = ${evil('harness')}
    where agent_harness_key = (select min(agent_harness_key) from request_log.harness_rollups)`
}

async function plantLedger(): Promise<void> {
  await desk.sql`
    update accounting.usage_rollups set model_key = ${evil('model')},
      resolved_model_key = ${evil('resolved')}, owner_kind = 'user', owner_id = ${ids.user},
      provider_key = ${evil('provider')}, upstream_model = ${evil('upstream')}
    where ctid in (select ctid from accounting.usage_rollups order by cost_pico_usd desc limit 1)`
  await desk.sql`
    insert into accounting.budget_rejected_charges
    select (jsonb_populate_record(null::accounting.budget_rejected_charges,
      to_jsonb(u) || '{"reason":"budget_exceeded"}')).* from accounting.usage_cost_events u
    where request_id = ${REQUEST}`
  await desk.sql`
    update accounting.budget_rejected_charges set model_key = ${evil('model')},
      provider_key = ${evil('provider')}, user_id = ${ids.user} where request_id = ${REQUEST}`
}

async function plantGuardrailsAndMcp(): Promise<void> {
  await desk.sql`
    insert into guardrails.guardrail_decisions (id, occurred_at, request_id, phase, scope, mode,
      evaluator, pack_id, rule_id, action, reason_code, latency_ms, transformation, content_sha256,
      config_version)
    values (gen_random_uuid(), now(), ${REQUEST}, 'prompt', ${evil('scope')}, 'deny',
      ${evil('evaluator')}, ${evil('pack')}, ${evil('rule')}, 'deny', ${evil('reason')}, 1, 'none',
      ${'0'.repeat(64)}, 'v')`
  await desk.sql`
    insert into audit_log.audit_log (id, request_id, action, object_kind, object_id, after)
    values (gen_random_uuid(), ${REQUEST}, 'user.update', ${evil('audited')}, 'evil',
      ${JSON.stringify({ name: evil('named'), [evil('member')]: evil('value') })}::text::jsonb)`
  const [server] = await desk.sql<{ id: string }[]>`
    insert into mcp_registry.external_mcp_servers (id, server_key, display_name, description,
      server_url, auth_mode, timeout_ms, discovery_status, last_error_summary, tool_count)
    values (gen_random_uuid(), 'evil', ${evil('server')}, ${evil('about')},
      'https://evil.example/mcp', 'none', 1000, 'failed', ${evil('summary')}, 1)
    returning id`
  ids.server = server?.id ?? ''
  await desk.sql`
    insert into mcp_registry.external_mcp_tools (id, server_id, upstream_name, display_name,
      description, input_schema, schema_hash, definition_hash, first_discovered_at,
      last_discovered_at)
    values (gen_random_uuid(), ${ids.server}, ${evil('tool')}, ${evil('title')},
      ${evil('described')}, ${JSON.stringify({ properties: { [evil('property')]: { description: evil('schema') } } })}::text::json,
      'h', 'h', now(), now())`
  await desk.sql`
    insert into mcp_registry.external_mcp_discovery_runs (id, server_id, trigger, status,
      error_summary, started_at, finished_at)
    values (gen_random_uuid(), ${ids.server}, 'admin', 'failed', ${evil('run')}, now(), now())`
  const [call] = await desk.sql<{ id: string }[]>`
    insert into mcp_audit.mcp_tool_invocations (id, occurred_at, request_id, owner_kind, user_id,
      api_key_id, server_key, tool_name, status, policy_result, latency_ms, error_code, held_until)
    values (gen_random_uuid(), now(), ${REQUEST}, 'user', ${ids.user}, ${ids.key}, 'evil',
      ${evil('called')}, 'tool_error', 'allowed', 12, ${evil('failed')}, now()) returning id`
  ids.call = call?.id ?? ''
}

/** What the page made of the markup: nothing may have run, and no element may exist. */
async function harm(page: Page): Promise<object> {
  return await page.evaluate(() => ({
    owned: 'owned' in window,
    elements: [...document.querySelectorAll('img, svg[onload], script:not([src])')].map(
      ({ outerHTML }) => outerHTML.slice(0, 200),
    ),
    violations: (window as unknown as { violations?: string[] }).violations ?? [],
  }))
}

const harmless = { owned: false, elements: [], violations: [] }

/** Every page, with the markup that it must show as text. */
const visits: readonly (readonly [path: () => string, shows: readonly string[]])[] = [
  [() => '/', ['model']],
  [() => '/requests', ['model', 'user']],
  [() => `/requests/${ids.log}`, ['user', 'team', 'key', 'upstream', 'agent', 'tag', 'question']],
  [() => `/requests?model_key=${encodeURIComponent(evil('model'))}`, []],
  [() => '/leaderboard', []],
  [() => '/harness-usage', ['harness']],
  [() => '/spend?days=30', ['model', 'user', 'provider']],
  [() => '/spend?days=30&by=owner', ['user']],
  [() => '/budgets', ['user', 'account']],
  [() => '/mcp', ['server']],
  [() => `/mcp/servers/${ids.server}`, ['server', 'about', 'tool']],
  [() => `/mcp/servers/${ids.server}?tool=${encodeURIComponent(evil('tool'))}`, ['described']],
  [() => `/mcp/servers/${ids.server}?view=runs`, ['run']],
  [() => '/mcp/invocations', ['called']],
  [() => `/mcp/invocations/${ids.call}`, ['called']],
  [() => '/guardrails', ['reason']],
  [() => `/guardrails?request_id=${REQUEST}`, ['reason']],
  [() => '/guardrails/policies', []],
  [() => '/guardrails/explain', []],
  [() => '/audit-log', ['audited', 'named']],
  [() => '/models', []],
  [() => '/providers', []],
  [() => '/identity/users', ['user']],
  [() => `/identity/users/${ids.user}`, []],
  [() => '/identity/teams', ['team']],
  [() => `/identity/teams/${ids.team}`, []],
  [() => '/identity/service-accounts', ['account']],
  [() => `/identity/service-accounts/${ids.account}`, []],
  [() => '/identity/api-keys', ['key']],
  [() => '/playground', []],
  [() => '/me/usage', []],
  [() => '/me/budgets', []],
  [() => '/me/api-keys', []],
  [() => '/account', []],
]

test('markup from outside is shown as text on every page', async () => {
  const page = await desk.open('/account')
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await page.addInitScript(() => {
    const violations: string[] = []
    Object.assign(window, { violations })
    document.addEventListener('securitypolicyviolation', (event) => {
      violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
    })
  })
  for (const [pathOf, shows] of visits) {
    const path = pathOf()
    await page.goto(`${desk.gateway.url}/console${path}`)
    await page.getByRole('heading').first().waitFor()
    for (const where of shows) {
      const text = page.getByText(evil(where)).first()
      await text.waitFor({ state: 'attached' }).catch((cause: unknown) => {
        throw new Error(`${path} does not show ${evil(where)}`, { cause })
      })
    }
    await page.waitForLoadState('networkidle')
    expect({ path, ...(await harm(page)) }).toEqual({ path, ...harmless })
  }
  expect(dialogs).toEqual([])
}, 120_000)
