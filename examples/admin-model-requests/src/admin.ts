import {
  type AdminRoute,
  adminRoute,
  type CallerOf,
  listOf,
  pageOf,
  pageQuery,
} from 'model-gateway/admin'
import { GatewayError, strictObject, Type } from 'model-gateway/plugin'
import type { Asker, Store } from './store.ts'

const textOrNull = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description })

const RequestView = Type.Object({
  request_id: Type.String({ format: 'uuid' }),
  user_id: Type.String(),
  email: Type.String(),
  model: Type.String(),
  reason: Type.String(),
  status: Type.Union([Type.Literal('open'), Type.Literal('granted'), Type.Literal('refused')]),
  note: textOrNull('What the admin said to it'),
  decided_by: textOrNull('E-mail of the admin'),
  created_at: Type.String({ format: 'date-time' }),
  decided_at: textOrNull('RFC 3339; null while it is open'),
})

const idParams = Type.Object({
  request_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
})

/** The gateway checks audience, origin and schemas before `handle` is called. */
export function createRoutes(store: Store): AdminRoute[] {
  return [...ownRoutes(store), ...adminRoutes(store)]
}

/** For anybody who is known, by session or by API key: their own requests and nobody else's. */
function ownRoutes(store: Store): AdminRoute[] {
  const shared = { audience: 'me', tag: 'model-requests' } as const
  return [
    adminRoute({
      ...shared,
      method: 'GET',
      path: '/api/v1/me/model-requests',
      summary: 'What I asked for, the newest first.',
      query: strictObject(pageQuery),
      result: listOf(RequestView),
      async handle({ caller, query }) {
        const { userId } = askerOf(caller)
        const { offset, ...page } = pageOf(query)
        return { ...(await store.ofUser(userId, { offset, ...page })), ...page }
      },
      errors: ['insufficient_privileges'],
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: '/api/v1/me/model-requests',
      summary: 'Asks for a model.',
      body: strictObject({
        model: Type.String({ minLength: 1, maxLength: 200 }),
        reason: Type.String({ minLength: 1, maxLength: 2000, description: 'What it is for' }),
      }),
      status: 201,
      result: RequestView,
      errors: ['conflict', 'insufficient_privileges'],
      async handle({ caller, body }) {
        const added = await store.add(askerOf(caller), body.model, body.reason)
        if (added !== undefined) return added
        throw new GatewayError('conflict', 'there is an open request of yours for this model')
      },
    }),
    adminRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/v1/me/model-requests/{request_id}',
      summary: 'Takes an open request back.',
      params: idParams,
      status: 204,
      result: Type.Null(),
      errors: ['insufficient_privileges'],
      async handle({ caller, params }) {
        // Somebody else's request is not there for this caller: no 403 that would tell it exists.
        if (await store.withdraw(askerOf(caller).userId, params.request_id)) return null
        throw new GatewayError('not_found', 'there is no open request of yours with this id')
      },
    }),
  ]
}

function adminRoutes(store: Store): AdminRoute[] {
  const shared = { audience: 'platform_admin', tag: 'model-requests' } as const
  return [
    adminRoute({
      ...shared,
      method: 'GET',
      path: '/api/v1/admin/model-requests',
      summary: 'What people asked for, the newest first.',
      query: strictObject({
        ...pageQuery,
        status: Type.Optional(
          Type.Union([Type.Literal('open'), Type.Literal('granted'), Type.Literal('refused')]),
        ),
      }),
      result: listOf(RequestView),
      async handle({ query }) {
        const { offset, ...page } = pageOf(query)
        return { ...(await store.list(query.status, { offset, ...page })), ...page }
      },
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: '/api/v1/admin/model-requests/{request_id}/decision',
      summary: 'Grants or refuses a request. Granting it in the config is the operator’s part.',
      params: idParams,
      body: strictObject({
        status: Type.Union([Type.Literal('granted'), Type.Literal('refused')]),
        note: Type.String({ maxLength: 2000 }),
      }),
      result: RequestView,
      errors: ['conflict'],
      async handle({ caller, params, body, requestId }) {
        const by = { actor: caller, requestId }
        const decided = await store.decide(params.request_id, body, by)
        if (decided === 'absent') throw new GatewayError('not_found', 'there is no such request')
        if (decided === 'decided') throw new GatewayError('conflict', 'it has been decided already')
        return decided
      },
    }),
  ]
}

/** A key speaks for its owner; that of a service account speaks for nobody who could ask. */
function askerOf(caller: CallerOf['me']): Asker {
  if (caller.kind === 'session') return { userId: caller.userId, email: caller.email }
  const { owner } = caller.principal
  if (owner.kind === 'user') return { userId: owner.userId, email: owner.email }
  throw new GatewayError('insufficient_privileges', 'service accounts ask for nothing')
}
