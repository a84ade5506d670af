import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDatabaseProxy } from '../../test/harness/database-proxy.ts'
import { ada, adaKey, eventually, startTestGateway, testKey } from '../../test/harness/gateway.ts'
import { spawnGateway } from '../../test/harness/process.ts'
import { startUpstream, type Upstream } from '../../test/harness/upstream.ts'

let upstream: Upstream
let database: TestDatabase
beforeAll(async () => {
  upstream = await startUpstream()
  database = await createTestDatabase('started')
})
afterAll(async () => {
  await upstream.stop()
  await database.drop()
})

const bobKey = testKey('bob')
const budget = { cadence: 'daily', amount_usd: '0.01' }

/** Each call costs at least ten times the budget. */
const config = () => ({
  providers: [
    {
      id: 'up',
      type: 'generic_compat',
      base_url: upstream.url,
      auth: { mode: 'none' },
      pricing_provider_id: 'test',
    },
  ],
  models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'upstream-1' }] }],
  pricing: {
    overrides: [
      {
        pricing_provider_id: 'test',
        model: 'upstream-1',
        input_usd_per_million: '100000',
        cache_read_usd_per_million: '100000',
        output_usd_per_million: '100000',
      },
    ],
  },
  users: [
    { ...ada, budget },
    {
      name: 'Bob',
      email: 'bob@example.com',
      api_keys: [{ name: 'test', value: `literal.${bobKey}`, all_models: true }],
    },
  ],
})

const chat = (url: string, key: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  })

test('a used-up hard budget refuses on every replica, and no provider is called', async () => {
  const options = { databaseUrl: database.url }
  const replicas = [
    await startTestGateway(config(), options),
    await startTestGateway(config(), options),
  ] as const
  const [{ url: one }, { url: two }] = replicas
  upstream.clear()
  // The call was served, so the caller gets the reply; its cost is a rejected charge.
  expect((await chat(one, adaKey)).status).toBe(200)
  const refused = await chat(one, adaKey)
  expect(refused.status).toBe(429)
  // Until the window ends. `x-should-retry` makes official clients not wait for it.
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'budget_exceeded',
      type: 'budget_error',
      limit_usd: '0.01',
      window_end: expect.stringMatching(/T00:00:00.000Z$/),
    },
  })
  await eventually(async () => ((await chat(two, adaKey)).status === 429 ? true : undefined), 1000)
  const calls = upstream.journal.calls.length
  expect((await chat(two, adaKey)).status).toBe(429)
  expect(upstream.journal.calls).toHaveLength(calls)
  expect((await chat(two, bobKey)).status).toBe(200)
  const [charge] = await database.sql`
    select reason, cost_pico_usd from accounting.budget_rejected_charges`
  expect(charge).toMatchObject({ reason: 'budget_exceeded' })
  for (const gateway of replicas) await gateway.stop()
})

test('official clients report a used-up budget at once, without waiting for its reset', async () => {
  const gateway = await startTestGateway(config())
  expect((await chat(gateway.url, adaKey)).status).toBe(200)
  let calls = 0
  const options = {
    apiKey: adaKey,
    fetch: (...call: Parameters<typeof fetch>) => {
      calls++
      return fetch(...call)
    },
  }
  const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, ...options })
  const anthropic = new Anthropic({ baseURL: gateway.url, ...options })
  for (const ask of [
    () => anthropic.messages.create({ ...hello, max_tokens: 10 }),
    () => openai.chat.completions.create(hello),
  ]) {
    calls = 0
    const told = ask().then(
      () => 'answered',
      (error) => error,
    )
    expect(await Promise.race([told, Bun.sleep(3000)])).toMatchObject({ status: 429 })
    expect(calls).toBe(1)
  }
  await gateway.stop()
})

describe.each(['refuse', 'freeze', 'reset'] as const)('a database fault: %s', (fault) => {
  test('does not lose a call of a running gateway, or its row', async () => {
    const own = await createTestDatabase('started')
    const proxy = await createDatabaseProxy(own.url)
    const gateway = await spawnGateway(
      { ...config(), accounting: { commit_timeout_ms: 300 } },
      { databaseUrl: proxy.url },
    )
    const sent: string[] = []
    let fails = false
    const load = async () => {
      while (sent.length < 150 || !fails) {
        const id = `id-${sent.push('')}`
        const reply = await chat(gateway.url, bobKey, { 'x-request-id': id })
        expect({ id, status: reply.status }).toEqual({ id, status: 200 })
        await reply.text()
      }
    }
    const running = Promise.all(Array.from({ length: 8 }, load))
    await eventually(async () => (sent.length > 30 ? true : undefined))
    for (let n = 0; n < 10; n++) {
      proxy[fault]()
      await Bun.sleep(30)
    }
    // From here on at least the last call gets this result, even on a fast machine.
    fails = true
    await running
    const last = `id-${sent.length}`
    expect((await chat(gateway.url, bobKey, { 'x-request-id': last })).status).toBe(400)
    proxy.pass()
    const rows = await eventually(async () => {
      const found = await own.sql`select request_id from accounting.usage_cost_events`
      return found.length >= sent.length ? found : undefined
    })
    expect(rows.map((row) => row.request_id).sort()).toEqual(
      sent.map((_, n) => `id-${n + 1}`).sort(),
    )
    await gateway.remove()
    proxy.close()
    await own.drop()
  }, 30_000)
})
