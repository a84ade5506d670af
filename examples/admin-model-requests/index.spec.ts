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

/** Replaces the gateway's audit log under the same id: records entries, or fails. */
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
      name: 'no requests yet',
      method: 'GET',
      path: all,
      status: 200,
      data: { items: [], total: 0 },
    },
    {
      name: 'a user requests a model',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'large', reason: 'größer 海' },
      status: 201,
      data: { email: 'user@example.com', model: 'large', status: 'open', decided_at: null },
    },
    {
      name: 'once per model',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'large', reason: 'again' },
      status: 409,
      code: 'conflict',
    },
    {
      name: 'a reason is required',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'other', reason: '' },
      status: 422,
      code: 'validation_failed',
    },
    {
      name: 'the user sees the request',
      as: 'user',
      method: 'GET',
      path: mine,
      status: 200,
      data: { total: 1 },
    },
    {
      name: 'the admin sees the request',
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
      name: 'a decided request cannot be withdrawn',
      as: 'user',
      method: 'DELETE',
      path: (answers) => `${mine}/${idOf(answers[1])}`,
      status: 404,
      code: 'not_found',
    },
    {
      name: 'the user requests another model',
      as: 'user',
      method: 'POST',
      path: mine,
      body: { model: 'other', reason: 'to compare' },
      status: 201,
    },
    {
      name: 'and withdraws it',
      as: 'user',
      method: 'DELETE',
      path: (answers) => `${mine}/${idOf(answers[9])}`,
      status: 204,
    },
    { name: 'one request is left', method: 'GET', path: all, status: 200, data: { total: 1 } },
  ],
})

describe('permissions', () => {
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
    if (route === undefined) throw new Error(`no route ${method} ${path}`)
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

  test('an API key acts for its owner; a service account cannot request', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-key', reason: 'why' } })
    expect(asked).toMatchObject({ email: 'ada@example.com', status: 'open' })
    const robot = keyOf({ kind: 'service_account', key: 'robot' })
    const error = await ask(robot, 'POST', mine, { body: { model: 'm', reason: 'why' } }).catch(
      (reason) => reason,
    )
    expect(error.code).toBe('insufficient_privileges')
  })

  test('the request of another user is 404', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-own', reason: 'why' } })
    const bob = keyOf({ kind: 'user', userId: crypto.randomUUID(), email: 'bob@example.com' })
    expect(await ask(bob, 'GET', mine)).toMatchObject({ total: 0 })
    const params = { request_id: asked.request_id }
    const error = await ask(bob, 'DELETE', `${mine}/{request_id}`, { params }).catch((e) => e)
    expect(error.code).toBe('not_found')
  })

  test('a decision is audited with actor and subject', async () => {
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

  test('nothing is decided when the audit log fails', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-full', reason: 'why' } })
    const params = { request_id: asked.request_id }
    auditFails = true
    const error = await ask(admin, 'POST', decisions, { params, body: decide }).catch((e) => e)
    expect(String(error)).toContain('the log is full')
    auditFails = false
    const decided = await ask(admin, 'POST', decisions, { params, body: decide })
    expect(decided).toMatchObject({ status: 'refused' })
  })

  test('of two concurrent decisions the first wins', async () => {
    const asked = await ask(ada, 'POST', mine, { body: { model: 'm-race', reason: 'why' } })
    const params = { request_id: asked.request_id }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => ask(admin, 'POST', decisions, { params, body: decide })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(entries).toHaveLength(1)
  })
})
