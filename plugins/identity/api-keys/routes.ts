import { type AdminRoute, adminRoute, listOf, pageQuery } from 'model-gateway/admin'
import { strictObject, Type } from 'model-gateway/plugin'
import { INSTANT_PATTERN, instantOf } from '../../_shared/instant.ts'
import type { KnownModels } from '../../_shared/model-names.ts'
import { Id } from '../../_shared/own-id.ts'
import { readPage } from '../../_shared/page.ts'
import { invalidBody, oneOf } from '../../_shared/schema.ts'
import {
  ALL_MODELS,
  McpServers,
  ModelIds,
  mcpServerColumn,
  missing,
  Name,
  requireModels,
  Search,
} from '../_shared/fields.ts'
import { rowExists, statesNothing } from '../_shared/store.ts'
import type { KeyChanges, KeyParts } from './change-keys.ts'
import { ApiKeyView, GrantMode, IssuedKeyView, viewOfKey } from './view.ts'

const Owner = Type.Union(
  [
    strictObject({ kind: Type.Literal('user'), user_id: Id }),
    strictObject({ kind: Type.Literal('service_account'), service_account_id: Id }),
  ],
  {
    errorMessage:
      'must be {"kind":"user","user_id":…} or {"kind":"service_account","service_account_id":…}',
  },
)
const State = oneOf(['active', 'expired', 'revoked'])
const ExpiresAt = Type.String({
  pattern: INSTANT_PATTERN,
  errorMessage: 'must be a time such as 2030-01-31T00:00:00Z',
})

/** Body of a rotation. */
export const Rotation = strictObject({
  grace_secs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30 * 24 * 3600,
      description: 'How long the old secret stays valid, in seconds. Default 86400, one day.',
    }),
  ),
})

export interface KeyRouteParts extends KeyParts {
  readonly changes: KeyChanges
  readonly models: () => KnownModels
}

export const keyParams = Type.Object({ api_key_id: Id })
const admin = { audience: 'platform_admin', tag: 'API keys' } as const

export function apiKeyRoutes(parts: KeyRouteParts): AdminRoute[] {
  const { store, change, clock, makeKey, changes, models } = parts

  function grants(
    mode: 'explicit' | 'all',
    granted: readonly string[],
    ownerKind: 'user' | 'service_account',
  ) {
    if (mode === 'all' && ownerKind === 'service_account') {
      throw invalidBody('/model_grant_mode', 'all is allowed only for users')
    }
    if (mode === 'all' && granted.length > 0) {
      throw invalidBody('/granted_models', 'must be empty with model_grant_mode all')
    }
    if (mode === 'explicit' && granted.length === 0) {
      throw invalidBody(
        '/granted_models',
        'must have at least one model, or set model_grant_mode to all',
      )
    }
    if (ownerKind === 'service_account' && granted.includes(ALL_MODELS)) {
      throw invalidBody('/granted_models', '* grants all models, which is allowed only for users')
    }
    requireModels(granted, models(), 'granted_models')
    return { model_grant_mode: mode, granted_models: [...new Set(granted)] }
  }

  function expiry(text: string | null | undefined): Date | null {
    if (text === undefined || text === null) return null
    const at = instantOf(text)
    if (at === undefined)
      throw invalidBody(
        '/expires_at',
        'must be a valid time before the year 9999; omit it for a key that does not expire',
      )
    if (at <= clock.now()) throw invalidBody('/expires_at', 'must be in the future')
    return at
  }

  return [
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/api-keys',
      summary: 'List API keys, newest first.',
      query: strictObject({
        ...pageQuery,
        user_id: Type.Optional(Id),
        service_account_id: Type.Optional(Id),
        status: Type.Optional(State),
        search: Type.Optional(
          Type.String({
            ...Search,
            description: 'Part of the name, or of the key before its dot; case-insensitive.',
          }),
        ),
      }),
      result: listOf(ApiKeyView),
      async handle({ query }) {
        const now = clock.now()
        return await readPage(
          query,
          (page) => store.list(query, page, now),
          (row) => viewOfKey(row, now),
        )
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/api-keys/{api_key_id}',
      summary: 'Get one API key, without its secret.',
      params: keyParams,
      result: ApiKeyView,
      handle: async ({ params }) => viewOfKey(await changes.find(params.api_key_id), clock.now()),
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: '/api/v1/admin/api-keys',
      summary: 'Issue an API key. Only this response contains the secret.',
      body: strictObject({
        name: Name,
        owner: Owner,
        model_grant_mode: Type.Optional(
          oneOf(['explicit', 'all'], {
            description: 'Default explicit. all is allowed only for users.',
          }),
        ),
        granted_models: Type.Optional(ModelIds),
        mcp_servers: Type.Optional(McpServers),
        expires_at: Type.Optional(ExpiresAt),
      }),
      status: 201,
      result: IssuedKeyView,
      errors: ['not_found'],
      async handle({ body, caller, requestId }) {
        const { name, owner, model_grant_mode = 'explicit', granted_models = [] } = body
        const { mcp_servers = 'all' } = body
        const granted = grants(model_grant_mode, granted_models, owner.kind)
        const expires_at = expiry(body.expires_at)
        const ownerId = owner.kind === 'user' ? owner.user_id : owner.service_account_id
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          if (!(await rowExists(sql, `${owner.kind}s`, ownerId))) {
            throw owner.kind === 'user'
              ? missing('owner.user_id', 'user')
              : missing('owner.service_account_id', 'service account')
          }
          const { raw, publicId, secretHash } = makeKey()
          const id = Bun.randomUUIDv7()
          await store.insert(sql, id, {
            public_id: publicId,
            secret_hash: secretHash,
            name,
            user_id: owner.kind === 'user' ? ownerId : null,
            service_account_id: owner.kind === 'user' ? null : ownerId,
            ...granted,
            mcp_servers: mcpServerColumn(mcp_servers),
            expires_at,
          })
          const after = viewOfKey(await changes.find(id, undefined, sql), clock.now())
          await audit({ action: 'api_key.create', objectKind: 'api_key', objectId: id, after })
          return { api_key: raw, ...after }
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'PATCH',
      path: '/api/v1/admin/api-keys/{api_key_id}',
      summary: 'Change the name, the grants or the expiry of an API key.',
      params: keyParams,
      body: strictObject({
        name: Type.Optional(Name),
        model_grant_mode: Type.Optional(GrantMode),
        granted_models: Type.Optional(ModelIds),
        mcp_servers: Type.Optional(McpServers),
        expires_at: Type.Optional(
          Type.Union([ExpiresAt, Type.Null()], {
            errorMessage:
              'must be a time such as 2030-01-31T00:00:00Z, or null for a key that does not expire',
          }),
        ),
      }),
      result: ApiKeyView,
      async handle({ params: { api_key_id: id }, body, caller, requestId }) {
        const { name, model_grant_mode, granted_models, mcp_servers, expires_at } = body
        const regrants = model_grant_mode !== undefined || granted_models !== undefined
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          const before = await changes.find(id, undefined, sql)
          if (statesNothing(body)) return viewOfKey(before, clock.now())
          const mode = model_grant_mode ?? (granted_models ? 'explicit' : before.model_grant_mode)
          const kept = mode === before.model_grant_mode ? before.granted_models : []
          const ownerKind = before.user_id === null ? 'service_account' : 'user'
          const fields = [
            ...(name === undefined ? [] : ['name']),
            ...(regrants ? ['grants'] : []),
            ...(mcp_servers === undefined ? [] : ['mcp_servers']),
          ]
          await store.update(
            sql,
            id,
            {
              ...(name !== undefined && { name }),
              ...(regrants && grants(mode, granted_models ?? kept, ownerKind)),
              ...(mcp_servers !== undefined && { mcp_servers: mcpServerColumn(mcp_servers) }),
              ...(expires_at !== undefined && { expires_at: expiry(expires_at) }),
            },
            fields,
          )
          const now = clock.now()
          const after = viewOfKey(await changes.find(id, undefined, sql), now)
          await audit({
            action: 'api_key.update',
            objectKind: 'api_key',
            objectId: id,
            before: viewOfKey(before, now),
            after,
          })
          return after
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: '/api/v1/admin/api-keys/{api_key_id}/revoke',
      summary: 'Revoke an API key permanently. Every replica rejects it within a second.',
      params: keyParams,
      result: ApiKeyView,
      handle: ({ params, caller, requestId }) =>
        changes.revoke({ caller, requestId }, params.api_key_id),
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: '/api/v1/admin/api-keys/{api_key_id}/rotate',
      summary: 'Give an API key a new secret. Only this response contains it.',
      params: keyParams,
      body: Rotation,
      result: IssuedKeyView,
      errors: ['conflict'],
      handle: ({ params, body, caller, requestId }) =>
        changes.rotate({ caller, requestId }, params.api_key_id, body.grace_secs),
    }),
  ]
}
