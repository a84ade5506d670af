import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import { json, startUpstream, type Upstream } from '../../harness/upstream.ts'
import { type ApiCase, type Asking, cases, prices } from './more-apis.fixture.ts'

const wordCheck = new URL('../../../plugins/guardrails/__fixtures__/word-check.ts', import.meta.url)
const poorKey = testKey('poor')
const narrowKey = testKey('narrow')

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = { provider: 'up', upstream_model: 'u' }
  gateway = await startTestGateway({
    plugins: [{ use: 'builtin:*' }, { use: wordCheck.pathname }],
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
      { id: 'sim', type: 'simulator' },
    ],
    models: [
      { id: 'm', routes: [route] },
      { id: 'chat-alone', routes: [{ provider: 'sim', upstream_model: 's' }] },
    ],
    pricing: { overrides: [{ pricing_provider_id: 'test', model: 'u', ...prices }] },
    guardrails: {
      default: { enabled: true, mode: 'deny', managed_checks: ['texts'] },
      managed_checks: {
        texts: {
          kind: 'words',
          phases: ['prompt', 'model_response'],
          word_list: { denied_word: 'FORBIDDEN' },
        },
      },
    },
    users: [
      ada,
      {
        name: 'Poor',
        email: 'poor@example.com',
        budget: { cadence: 'daily', amount_usd: '0.000001', hard_limit: true },
        api_keys: [{ name: 'poor', value: `literal.${poorKey}`, all_models: true }],
      },
      {
        name: 'Narrow',
        email: 'narrow@example.com',
        api_keys: [{ name: 'narrow', value: `literal.${narrowKey}`, models: ['chat-alone'] }],
      },
    ],
  })
  upstream.always(cases[0]?.reply ?? json({}))
  // One call takes all that there is.
  await gateway.post('/v1/completions', { model: 'm', ...cases[0]?.body }, authorized(poorKey))
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})
beforeEach(() => upstream.clear())

const authorized = (key: string, id: string = crypto.randomUUID()) => ({
  authorization: `Bearer ${key}`,
  'x-request-id': id,
})

function asking(id: string): Asking {
  const headers = authorized(adaKey, id)
  return {
    openai: gateway.openai(adaKey),
    headers,
    async post(path, body) {
      const reply = await gateway.post(path, body, headers)
      return (await reply.json()) as JsonValue
    },
  }
}

async function ledgerRows(id: string) {
  return await gateway.sql`
    select operation, pricing_status, service_tier, line_items
    from accounting.usage_cost_events where request_id = ${id}`
}

async function logged(id: string) {
  return await eventually(async () => {
    const rows = await gateway.sql`
      select l.operation, l.status_code, p.response_json from request_log.request_logs l
      join request_log.request_log_payloads p on p.request_log_id = l.id
      where l.request_id = ${id}`
    return rows.length === 0 ? undefined : rows
  })
}

describe.each(cases.map((each) => [each.name, each] as const))('%s', (_name, each: ApiCase) => {
  const { operation, path, upstreamPath = path, body, reply, saysForbidden, asksForbidden } = each

  test('an official client is served, charged once by the right units, and logged once', async () => {
    upstream.always(reply)
    const id = crypto.randomUUID()
    const understood = await each.ask(asking(id), { model: 'm', ...body })
    if (isJsonObject(each.understood)) expect(understood).toMatchObject(each.understood)
    else expect(understood).toEqual(each.understood)
    const [sent] = upstream.journal.calls
    expect(sent?.path).toBe(upstreamPath)
    expect(sent?.body).toMatchObject({ ...body, model: 'u' })

    const rows = await logged(id)
    expect(rows).toMatchObject([{ operation, status_code: 200 }])
    // Pictures are 400,000 characters each.
    expect(JSON.stringify(rows[0]?.response_json).length).toBeLessThan(3000)
    expect(await ledgerRows(id)).toMatchObject([
      { operation, pricing_status: 'priced', service_tier: each.tier ?? null },
    ])
    const [row] = await ledgerRows(id)
    expect(row?.line_items ?? []).toEqual(each.items)
  })

  test('is refused by a budget, a grant and a guard, and not sent', async () => {
    const refusals = [
      [poorKey, {}, 429, 'budget_exceeded'],
      [narrowKey, {}, 403, 'model_not_granted'],
      [adaKey, asksForbidden ?? {}, 403, 'guardrail_denied'],
    ] as const
    for (const [key, change, status, code] of refusals) {
      const refused = await gateway.post(path, { model: 'm', ...body, ...change }, authorized(key))
      const { error } = (await refused.json()) as { error: { code: string } }
      expect([refused.status, error.code]).toEqual([status, code])
    }
    expect(upstream.journal.calls).toEqual([])
    if (saysForbidden === undefined) return
    upstream.always(saysForbidden)
    const denied = await gateway.post(path, { model: 'm', ...body })
    expect(denied.status).toBe(403)
  })
})

test('an error of the upstream reaches the caller in its words', async () => {
  for (const { path, body } of cases) {
    upstream.always(json({ error: { message: 'too many', code: 'slow_down' } }, 429))
    const reply = await gateway.post(path, { model: 'm', ...body })
    expect(reply.status).toBe(429)
    expect(((await reply.json()) as JsonObject).error).toMatchObject({ code: 'slow_down' })
  }
})

describe('completions on a route that has chat alone', () => {
  test('are converted, whole and streamed', async () => {
    const openai = gateway.openai(adaKey)
    const call = { model: 'chat-alone', prompt: ['Say river'], max_tokens: 20 }
    const whole = await openai.completions.create(call)
    expect(whole).toMatchObject({ object: 'text_completion', model: 'chat-alone' })
    expect(whole.choices[0]?.text).not.toBe('')
    let text = ''
    const stream = await openai.completions.create({ ...call, stream: true })
    for await (const { object, choices } of stream) {
      expect(object).toBe('text_completion')
      text += choices[0]?.text ?? ''
    }
    expect(text).toBe(whole.choices[0]?.text ?? '')
  })

  test.each([
    [{ prompt: [1, 2] }, 'prompt'],
    [{ prompt: ['a', 'b'] }, 'prompt'],
    [{ suffix: 'end' }, 'suffix'],
    [{ logprobs: 2 }, 'logprobs'],
    [{ echo: true }, 'echo'],
    [{ best_of: 3 }, 'best_of'],
  ])('%j is refused by name', async (change, field) => {
    const body = { model: 'chat-alone', prompt: 'Say river', ...change }
    const reply = await gateway.post('/v1/completions', body)
    const { error } = (await reply.json()) as { error: { message: string } }
    expect([reply.status, error.message.startsWith(field)]).toEqual([400, true])
  })
})
