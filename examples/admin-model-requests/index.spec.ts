import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  type AdminCall,
  type AdminRoute,
  type AuditEntry,
  adminModules,
  auditTrail,
  type CallerOf,
} from 'model-gateway/admin'
import type { Principal } from 'model-gateway/identity'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { type PluginBench, setUpPlugin, testAdminModule, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'

const mine = '/api/v1/me/model-requests'
const all = '/api/v1/admin/model-requests'

/** In the place of the gateway's audit log, with its id: what was written, or a failure. */
const entries: AuditEntry[] = []
let auditFails = false
const auditLog = definePlugin({
  manifest: {
    id: 'plugin.audit-log',
    version: '1.0.0',
    contract: 1,
    summary: 'Keeps the entries for the tests.',
    config: strictObject({}),
    needs: [],
    provides: [auditTrail],
  },
  setup(ctx) {
    ctx.provide(auditTrail, {
      async write(_, entry) {
        if (auditFails) throw new Error('the log is full')
        entries.push(entry)
      },
    })
  },
})
const beside = [auditLog]

testPlugin({ plugin, beside })

const idOf = (answer: unknown) => (answer as { request_id: string }).request_id

testAdminModule({
  plugin,
  beside,
  cases: [
    {
      name: 'nobody has asked',
      method: 'GET',
      path: all,
      status: 200,
      data: { items: [], total: 0 },
    },
    {
      name: 'a user asks',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'large', reason: 'größer 海' },
      status: 201,
      data: { email: 'user@example.com', model: 'large', status: 'open', decided_at: null },
    },
    {
      name: 'once for a model',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'large', reason: 'again' },
      status: 409,
      code: 'conflict',
    },
    {
      name: 'without a reason it is none',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'other', reason: '' },
      status: 422,
      code: 'validation_failed',
    },
    {
      name: 'the user sees it',
      as: 'user',
      method: 'GET',
      path: mine,
      status: 200,
      data: { total: 1 },
    },
    {
      name: 'and so does the admin',
      method: 'GET',
      path: `${all}?status=open`,
      status: 200,
      data: { total: 1, items: [{ reason: 'größer 海' }] },
    },
    {
      name: 'who decides',
      method: 'POST',
      path: (answers) => `${all}/${idOf(answers[1])}/decision`,
      body: { status: 'granted', note: 'until June' },
      status: 200,
      data: { status: 'granted', note: 'until June', decided_by: 'platform_admin@example.com' },
    },
    {
      name: 'once',
      method: 'POST',
      path: (answers) => `${all}/${idOf(answers[1])}/decision`,
      body: { status: 'refused', note: 'no' },
      status: 409,
      code: 'conflict',
    },
    {
      name: 'what is decided cannot be taken back',
      as: 'user',
      method: 'DELETE',
      path: (answers) => `${mine}/${idOf(answers[1])}`,
      status: 404,
      code: 'not_found',
    },
    {
      name: 'the user asks for another model',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'other', reason: 'to compare' },
      status: 201,
    },
    {
      name: 'and takes it back',
      as: 'user',
      method: 'DELETE',
      path: (answers) => `${mine}/${idOf(answers[9])}`,
      status: 204,
    },
    { name: 'which leaves one', method: 'GET', path: all, status: 200, data: { total: 1 } },
  ],
})

describe('who asks and who decides', () => {
  let bench: PluginBench
  let routes: readonly AdminRoute[] = []
  beforeAll(async () => {
    bench = await setUpPlugin({ plugin, beside })
    if (bench.error !== undefined) throw bench.error
    routes = bench.of(adminModules).flatMap((module) => module.routes)
  }, 30_000)
  beforeEach(() => {
    entries.length = 0
    auditFails = false
  })
  afterAll(() => bench?.dispose())

  /** Calls a route as the control plane does. */
  async function ask(
    caller: CallerOf['me'],
    method: string,
    path: string,
    { params = {}, body = {} }: { params?: object; body?: object } = {},
  ) {
    const route = routes.find((each) => each.method === method && each.path === path)
    if (route === undefined) throw new Error(`there is no ${method} ${path}`)
    const call = {
      requestId: 'request-7',
      caller,
      params,
      query: {},
      body,
      headers: new Headers(),
      address: undefined,
      secure: true,
      reply: new Headers(),
    } as unknown as AdminCall<'me', never, never, never>
    return await (route.handle as (call: unknown) => Promise<Record<string, unknown>>)(call)
  }
  const keyOf = (owner: object): CallerOf['me'] => ({
    kind: 'api_key',
    principal: { owner } as Principal,
  })
  const ada = keyOf({ kind: 'user', userId: crypto.randomUUID(), email: 'ada@example.com' })
  const admin = {
    kind: 'session',
    sessionId: 's',
    userId: 'a',
    email: 'root@example.com',
    name: 'Root',
    role: 'platform_admin',
  } as const
  const decisions = `${all}/{request_id}/decision`
  const decide = { status: 'refused', note: 'not yet' }

  test('an API key asks for its owner, but a service account asks for nothing', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-key', reason: 'why' } })
    expect(asked).toMatchObject({ email: 'ada@example.com', status: 'open' })
    const robot = keyOf({ kind: 'service_account', key: 'robot' })
    const error = await ask(robot, 'POST', mine, { body: { model: 'm', reason: 'why' } }).catch(
      (reason) => reason,
    )
    expect(error.code).toBe('insufficient_privileges')
  })

  test('a request of somebody else is not there', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-own', reason: 'why' } })
    const bob = keyOf({ kind: 'user', userId: crypto.randomUUID(), email: 'bob@example.com' })
    expect(await ask(bob, 'GET', mine)).toMatchObject({ total: 0 })
    const params = { request_id: asked.request_id }
    const error = await ask(bob, 'DELETE', `${mine}/{request_id}`, { params }).catch((e) => e)
    expect(error.code).toBe('not_found')
  })

  test('a decision is in the audit log, with who took it and on what', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-audit', reason: 'why' } })
    const params = { request_id: asked.request_id }
    await ask(admin, 'POST', decisions, { params, body: decide })
    expect(entries).toMatchObject([
      {
        actor: { email: 'root@example.com' },
        requestId: 'request-7',
        action: 'model_request.decide',
        objectId: asked.request_id,
        before: { status: 'open' },
        after: { status: 'refused', model: 'm-audit', email: 'ada@example.com' },
      },
    ])
  })

  test('what cannot be audited is not decided', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-full', reason: 'why' } })
    const params = { request_id: asked.request_id }
    auditFails = true
    const error = await ask(admin, 'POST', decisions, { params, body: decide }).catch((e) => e)
    expect(String(error)).toContain('the log is full')
    auditFails = false
    const decided = await ask(admin, 'POST', decisions, { params, body: decide })
    expect(decided).toMatchObject({ status: 'refused' })
  })

  test('of two who decide at once one is heard', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-race', reason: 'why' } })
    const params = { request_id: asked.request_id }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => ask(admin, 'POST', decisions, { params, body: decide })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(entries).toHaveLength(1)
  })
})
