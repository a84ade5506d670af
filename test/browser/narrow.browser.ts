import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually } from '../harness/gateway.ts'
import { browserConfig } from './config.ts'
import { testDesk } from './harness.ts'
import { textProblems } from './text-problems.ts'

/** Names that are too long for a table. */
const MODEL = 'acme-research/long-context-reasoning-experimental-2026-09-preview-instruct-fp8-128k'
const PROVIDER = 'sovereign-cloud-production-inference-cluster-frankfurt-2'
const PERSON = 'Maximiliana Konstantina von und zu Hohenstein-Schwarzburg'
const EMAIL = 'maximiliana-konstantina.von-und-zu-hohenstein@international-research.example.com'
const TEAM = 'International Cooperation and Platform Engineering Working Group North-West'
const REQUEST = 'r'.repeat(120)
/** The longest names that the gateway accepts, without a place to break. */
const WORD = 'N'.repeat(200)
const MODEL_WORD = 'm'.repeat(120)
const PROVIDER_WORD = 'p'.repeat(60)
const TOOL_WORD = 't'.repeat(128)

const [simulator] = browserConfig.providers
const [price] = browserConfig.pricing.overrides
const desk = testDesk({
  requests: 300,
  config: {
    providers: [
      ...browserConfig.providers,
      { ...simulator, id: PROVIDER },
      { ...simulator, id: PROVIDER_WORD },
    ],
    models: [
      ...browserConfig.models,
      { id: MODEL, routes: [{ provider: PROVIDER, upstream_model: MODEL }] },
      { id: MODEL_WORD, routes: [{ provider: PROVIDER_WORD, upstream_model: MODEL }] },
    ],
    pricing: { overrides: [...browserConfig.pricing.overrides, { ...price, model: MODEL }] },
    guardrails: {
      default: { enabled: true, mode: 'audit', packs: ['core.filesystem', 'core.git'] },
    },
  },
})
const ids = { user: '', team: '', account: '', key: '', budget: '', log: '', server: '' }

beforeAll(async () => {
  const { admin, sql } = desk
  const { team_id } = await admin.post<{ team_id: string }>('/api/v1/admin/teams', {
    key: 'international-cooperation-and-platform-engineering',
    name: TEAM,
  })
  const { user_id } = await admin.post<{ user_id: string }>('/api/v1/admin/users', {
    name: PERSON,
    email: EMAIL,
    team: { team_id },
  })
  const account = await admin.post<{ service_account_id: string }>(
    '/api/v1/admin/service-accounts',
    {
      key: 'nightly-evaluation-of-the-long-context-models',
      name: 'Nightly evaluation of the long context models of the research group',
      team_id,
      budget: { cadence: 'daily', amount_usd: '123456.654321' },
    },
  )
  const key = await admin.post<{ api_key_id: string; api_key: string }>('/api/v1/admin/api-keys', {
    name: 'key-of-the-continuous-integration-runner-in-frankfurt-number-12',
    owner: { kind: 'user', user_id },
    model_grant_mode: 'all',
  })
  const { budget_id } = await admin.put<{ budget_id: string }>('/api/v1/admin/spend/budgets', {
    scope: { kind: 'user_model', user_id, upstream_model: MODEL },
    cadence: 'daily',
    amount_usd: '0.000001',
  })
  const { server } = await admin.post<{ server: { mcp_server_id: string } }>(
    '/api/v1/admin/mcp/servers',
    {
      server_key: 'tickets',
      display_name: 'Tickets of the support desk of the international research cooperation',
      server_url: `https://mcp.example.com/${'deep/'.repeat(20)}`,
      auth_mode: 'none',
    },
  )
  await fetch(`${desk.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.api_key}`,
      'content-type': 'application/json',
      'x-request-id': REQUEST,
      'x-gateway-tags': `purpose=${'long-'.repeat(10)}`,
    },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'rm -rf /' }] }),
  }).then((reply) => reply.text())
  const log = await eventually(async () => {
    const [row] = await sql`
      select id from request_log.request_logs where request_id = ${REQUEST}`
    return row?.id as string | undefined
  })
  Object.assign(ids, {
    user: user_id,
    team: team_id,
    account: account.service_account_id,
    key: key.api_key_id,
    budget: budget_id,
    log,
    server: server.mcp_server_id,
  })
})

const paths = () => [
  '/',
  '/requests',
  `/requests?user_id=${ids.user}&service=shop`,
  `/requests/${ids.log}`,
  '/leaderboard',
  '/harness-usage',
  '/spend',
  '/spend?by=owner&days=30',
  '/budgets',
  `/budgets/${ids.budget}`,
  '/budgets?view=alerts',
  '/mcp',
  `/mcp/servers/${ids.server}`,
  '/mcp/invocations',
  `/guardrails?request_id=${REQUEST}`,
  '/guardrails/policies',
  '/guardrails/explain',
  '/audit-log',
  `/audit-log?object_id=${ids.user}`,
  '/models',
  `/models/${encodeURIComponent(MODEL)}`,
  '/providers',
  '/playground',
  '/identity/users',
  `/identity/users/${ids.user}`,
  `/identity/teams/${ids.team}`,
  '/identity/service-accounts',
  `/identity/service-accounts/${ids.account}`,
  '/identity/api-keys',
  `/identity/api-keys/${ids.key}`,
  '/me/usage',
  '/account',
  '/no-such-page',
]

/** The elements that are wider than the page or the open dialog. */
async function tooWide(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const frames = [
      document.documentElement,
      ...document.querySelectorAll('#main, dialog[open], dialog[open] > *'),
    ]
    return frames
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(({ tagName, className }) => `${tagName} ${className}`)
  })
}

/** The problems of each page that does not fit. */
async function misfits(paths: readonly string[]) {
  const page = await desk.open('/account', { size: 'phone' })
  const found: Record<string, readonly string[]> = {}
  for (const path of paths) {
    await page.goto(`${desk.gateway.url}/console${path}`)
    await page.getByRole('heading').first().waitFor()
    await page.waitForLoadState('networkidle')
    const wrong = [...(await tooWide(page)), ...(await page.evaluate(textProblems))]
    if (wrong.length > 0) found[path] = wrong
  }
  return found
}

test('on a phone no page is wider than the window, however long names are', async () => {
  expect(await misfits(paths())).toEqual({})
}, 120_000)

test('on a phone no page is wider than the window with one-word names and amounts with all digits', async () => {
  const { admin, sql } = desk
  const { team_id } = await admin.post<{ team_id: string }>('/api/v1/admin/teams', {
    key: 'k'.repeat(64),
    name: WORD,
  })
  const user = await admin.post<{ user_id: string }>('/api/v1/admin/users', {
    name: WORD,
    email: 'word@example.com',
    team: { team_id },
  })
  const account = await admin.post<{ service_account_id: string }>(
    '/api/v1/admin/service-accounts',
    { key: 'w'.repeat(64), name: WORD, team_id },
  )
  const key = await admin.post<{ api_key_id: string }>('/api/v1/admin/api-keys', {
    name: WORD,
    owner: { kind: 'user', user_id: user.user_id },
    model_grant_mode: 'all',
  })
  const [most, least] = await Promise.all(
    ['100000000000.000000000001', '0.000000000001'].map((amount_usd, n) =>
      admin.put<{ budget_id: string }>('/api/v1/admin/spend/budgets', {
        scope: { kind: 'user_model', user_id: user.user_id, upstream_model: `${n}${WORD}` },
        cadence: 'daily',
        amount_usd,
      }),
    ),
  )
  const { server } = await admin.post<{ server: { mcp_server_id: string } }>(
    '/api/v1/admin/mcp/servers',
    {
      server_key: 's'.repeat(64),
      display_name: 'S'.repeat(120),
      description: 'D'.repeat(300),
      server_url: `https://mcp.example.com/${'u'.repeat(300)}`,
      auth_mode: 'none',
    },
  )
  const id = server.mcp_server_id
  await sql`
    insert into mcp_registry.external_mcp_tools (id, server_id, upstream_name, display_name,
      description, input_schema, schema_hash, definition_hash, first_discovered_at,
      last_discovered_at)
    values (gen_random_uuid(), ${id}, ${TOOL_WORD}, ${WORD}, ${WORD},
      ${JSON.stringify({ properties: { [WORD]: { description: WORD } } })}::text::json, 'h', 'h',
      now(), now())`
  const found = await misfits([
    `/identity/users/${user.user_id}`,
    `/identity/teams/${team_id}`,
    `/identity/service-accounts/${account.service_account_id}`,
    `/identity/api-keys/${key.api_key_id}`,
    `/budgets/${most?.budget_id}`,
    `/budgets/${least?.budget_id}`,
    `/mcp/servers/${id}`,
    `/mcp/servers/${id}?tool=${TOOL_WORD}`,
    `/models/${MODEL_WORD}`,
  ])
  expect(found).toEqual({})
}, 60_000)
