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
  note: textOrNull('Note by the admin'),
  decided_by: textOrNull('E-mail of the admin'),
  created_at: Type.String({ format: 'date-time' }),
  decided_at: textOrNull('RFC 3339; null while the request is open'),
})

const idParams = Type.Object({
  request_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
})

/** The gateway checks audience, origin and schemas before `handle` is called. */
export function createRoutes(store: Store): AdminRoute[] {
  return [...ownRoutes(store), ...adminRoutes(store)]
}

/** Any known caller, by session or API key. Each sees only their own requests. */
function ownRoutes(store: Store): AdminRoute[] {
  const shared = { audience: 'me', tag: 'model-requests' } as const
  return [
    adminRoute({
      ...shared,
      method: 'GET',
      path: '/api/v1/me/model-requests',
      summary: 'Lists your model requests, newest first.',
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
      summary: 'Requests access to a model.',
      body: strictObject({
        model: Type.String({ minLength: 1, maxLength: 200 }),
        reason: Type.String({
          minLength: 1,
          maxLength: 2000,
          description: 'Reason for the request',
        }),
      }),
      status: 201,
      result: RequestView,
      errors: ['conflict', 'insufficient_privileges'],
      async handle({ caller, body }) {
        const added = await store.add(askerOf(caller), body.model, body.reason)
        if (added !== undefined) return added
        throw new GatewayError('conflict', 'you already have an open request for this model')
      },
    }),
    adminRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/v1/me/model-requests/{request_id}',
      summary: 'Withdraws an open request.',
      params: idParams,
      status: 204,
      result: Type.Null(),
      errors: ['insufficient_privileges'],
      async handle({ caller, params }) {
        // Another user's request is 404, because 403 would reveal that it exists.
        if (await store.withdraw(askerOf(caller).userId, params.request_id)) return null
        throw new GatewayError('not_found', 'you have no open request with this id')
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
      summary: 'Lists all model requests, newest first.',
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
      summary:
        'Grants or refuses a request. The operator still has to grant the model in the config.',
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
        if (decided === 'absent') throw new GatewayError('not_found', 'no request has this id')
        if (decided === 'decided')
          throw new GatewayError('conflict', 'the request is already decided')
        return decided
      },
    }),
  ]
}

/** An API key acts for its owner. A service account has no user, so it cannot request models. */
function askerOf(caller: CallerOf['me']): Asker {
  if (caller.kind === 'session') return { userId: caller.userId, email: caller.email }
  const { owner } = caller.principal
  if (owner.kind === 'user') return { userId: owner.userId, email: owner.email }
  throw new GatewayError('insufficient_privileges', 'service accounts cannot request models')
}
