import {
  type AdminRoute,
  adminRoute,
  type KeyCaller,
  listOf,
  pageQuery,
  type SessionCaller,
} from 'model-gateway/admin'
import { type Clock, GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import { callerOwner } from '../_shared/caller-owner.ts'
import { overlap } from '../_shared/model-names.ts'
import { readPage } from '../_shared/page.ts'
import { nullable, oneOf } from '../_shared/schema.ts'
import { ModelAccessView } from './_shared/fields.ts'
import type { KeyChanges } from './api-keys/change-keys.ts'
import { keyParams, Rotation } from './api-keys/routes.ts'
import type { ApiKeyStore } from './api-keys/store.ts'
import { ApiKeyView, IssuedKeyView, viewOfKey } from './api-keys/view.ts'
import type { TeamStore } from './teams/store.ts'
import type { UserStore } from './users/store.ts'

const Me = Type.Object({
  authenticated_by: oneOf(['session', 'api_key']),
  owner: Type.Union([
    Type.Object({
      kind: Type.Literal('user'),
      user_id: Type.String(),
      name: Type.String(),
      email: Type.String(),
      role: oneOf(['platform_admin', 'user']),
    }),
    Type.Object({
      kind: Type.Literal('service_account'),
      service_account_id: Type.String(),
      name: Type.String(),
      key: Type.String(),
    }),
  ]),
  team: nullable(Type.Object({ team_id: Type.String(), key: Type.String() })),
  model_access: ModelAccessView,
  api_key: nullable(ApiKeyView, 'The API key of this request.'),
})

export interface MeParts {
  readonly users: Pick<UserStore, 'find'>
  readonly teams: Pick<TeamStore, 'find'>
  readonly keys: Pick<ApiKeyStore, 'find' | 'list'>
  readonly changes: KeyChanges
  readonly clock: Clock
}

const me = { tag: 'me' } as const

/** Routes for every caller: who am I, and my API keys. */
export function meRoutes({ users, teams, keys, changes, clock }: MeParts): AdminRoute[] {
  async function userOf(id: string) {
    const row = await users.find(id)
    if (row === undefined) throw new GatewayError('session_required', 'the user was deleted')
    return row
  }

  async function bySession(caller: SessionCaller): Promise<Static<typeof Me>> {
    const user = await userOf(caller.userId)
    const team = user.team_id === null ? undefined : await teams.find(user.team_id)
    const restricted = [user, ...(team === undefined ? [] : [team])].filter(
      (row) => row.model_access_mode === 'restricted',
    )
    return {
      authenticated_by: 'session',
      owner: ownerOf(user),
      team: team === undefined ? null : { team_id: team.team_id, key: team.key },
      model_access: accessOf(restricted.map((row) => row.allowed_models)),
      api_key: null,
    }
  }

  async function byKey({ principal }: KeyCaller): Promise<Static<typeof Me>> {
    const { owner, apiKeyId, allowlists } = principal
    const key = await keys.find(apiKeyId)
    return {
      authenticated_by: 'api_key',
      owner:
        owner.kind === 'user'
          ? ownerOf(await userOf(owner.userId))
          : {
              kind: 'service_account',
              service_account_id: owner.serviceAccountId,
              name: owner.name,
              key: owner.key,
            },
      team: owner.team === undefined ? null : { team_id: owner.team.id, key: owner.team.key },
      model_access: accessOf(allowlists),
      api_key: key === undefined ? null : viewOfKey(key, clock.now()),
    }
  }

  return [
    adminRoute({
      ...me,
      method: 'GET',
      path: '/api/v1/me',
      audience: 'me',
      summary: 'Get the caller and the models that the caller may use.',
      result: Me,
      handle: ({ caller }) => (caller.kind === 'session' ? bySession(caller) : byKey(caller)),
    }),
    adminRoute({
      ...me,
      method: 'GET',
      path: '/api/v1/me/api-keys',
      audience: 'me',
      summary: "List the caller's own API keys, newest first.",
      query: strictObject(pageQuery),
      result: listOf(ApiKeyView),
      async handle({ caller, query }) {
        const now = clock.now()
        return await readPage(
          query,
          (page) => keys.list(filterOf(caller), page, now),
          (row) => viewOfKey(row, now),
        )
      },
    }),
    adminRoute({
      ...me,
      method: 'POST',
      path: '/api/v1/me/api-keys/{api_key_id}/revoke',
      audience: 'session',
      summary: 'Revoke one of your own API keys permanently.',
      params: keyParams,
      result: ApiKeyView,
      handle: ({ params, caller, requestId }) =>
        changes.revoke({ caller, requestId }, params.api_key_id, caller.userId),
    }),
    adminRoute({
      ...me,
      method: 'POST',
      path: '/api/v1/me/api-keys/{api_key_id}/rotate',
      audience: 'session',
      summary: 'Give one of your own API keys a new secret. Only this response contains it.',
      params: keyParams,
      body: Rotation,
      result: IssuedKeyView,
      errors: ['conflict'],
      handle: ({ params, body, caller, requestId }) =>
        changes.rotate({ caller, requestId }, params.api_key_id, body.grace_secs, caller.userId),
    }),
  ]
}

function ownerOf(user: {
  readonly user_id: string
  readonly name: string
  readonly email: string
  readonly role: 'platform_admin' | 'user'
}) {
  const { user_id, name, email, role } = user
  return { kind: 'user' as const, user_id, name, email, role }
}

function filterOf(caller: SessionCaller | KeyCaller) {
  const { kind, id } = callerOwner(caller)
  return kind === 'user' ? { user_id: id } : { service_account_id: id }
}

/** The intersection of the lists; where patterns overlap, the names that both match. */
function accessOf(allowlists: readonly Iterable<string>[]): Static<typeof ModelAccessView> {
  const [first, ...others] = allowlists.map((list) => [...list])
  if (first === undefined) return { mode: 'all', models: [] }
  const both = (some: readonly string[], list: readonly string[]) =>
    some.flatMap((one) => list.flatMap((other) => overlap(one, other) ?? []))
  const models = others.reduce<readonly string[]>(both, first)
  return { mode: 'restricted', models: [...new Set(models)].toSorted() }
}
