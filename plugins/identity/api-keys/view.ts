import { type Static, Type } from 'model-gateway/plugin'
import { asView, Instant, nullable, oneOf } from '../../_shared/schema.ts'
import type { ApiKeyRow, KeyState } from './store.ts'

export const GrantMode = oneOf(['explicit', 'all'])

const State = oneOf(['active', 'expired', 'revoked'])

const members = {
  api_key_id: Type.String(),
  public_id: Type.String({ description: 'The part of the key before the dot, without gwk_.' }),
  name: Type.String(),
  owner: Type.Union([
    Type.Object({
      kind: Type.Literal('user'),
      user_id: Type.String(),
      name: Type.String(),
      email: Type.String(),
    }),
    Type.Object({
      kind: Type.Literal('service_account'),
      service_account_id: Type.String(),
      name: Type.String(),
      key: Type.String(),
    }),
  ]),
  model_grant_mode: GrantMode,
  granted_models: Type.Array(Type.String()),
  mcp_servers: Type.Union([Type.Literal('all'), Type.Array(Type.String())], {
    description: 'Keys of the MCP servers that the API key may use.',
  }),
  status: State,
  expires_at: nullable(Instant),
  last_used_at: nullable(Instant),
  revoked_at: nullable(Instant),
  rotated_at: nullable(Instant),
  previous_secret_until: nullable(
    Instant,
    'Until when the previous secret stays valid after a rotation.',
  ),
  from_config: Type.Boolean({ description: 'Whether the config file declares the key.' }),
  created_at: Instant,
}

export const ApiKeyView = Type.Object(members)

/** Includes the key itself, which is returned only once. */
export const IssuedKeyView = Type.Object({
  api_key: Type.String({ description: 'The whole API key. It is shown only once.' }),
  ...members,
})

export function stateOf(row: ApiKeyRow, now: Date): KeyState {
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active'
}

export function viewOfKey(row: ApiKeyRow, now: Date): Static<typeof ApiKeyView> {
  return asView(ApiKeyView, {
    ...row,
    owner: ownerOf(row),
    mcp_servers: row.mcp_servers ?? 'all',
    status: stateOf(row, now),
    previous_secret_until: previousUntil(row, now),
  })
}

function previousUntil(row: ApiKeyRow, now: Date): Date | null {
  const { previous_until: until, expires_at: end } = row
  if (until === null || until <= now || stateOf(row, now) !== 'active') return null
  return end !== null && end < until ? end : until
}

function ownerOf(row: ApiKeyRow): Static<typeof ApiKeyView>['owner'] {
  const { user_id, service_account_id, owner_name: name, email, service_account_key: key } = row
  if (user_id !== null) return { kind: 'user', user_id, name, email }
  return { kind: 'service_account', service_account_id: service_account_id ?? '', name, key }
}
