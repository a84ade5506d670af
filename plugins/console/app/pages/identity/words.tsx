import { type Data, invalidate } from '@/api/query.ts'
import { Badge } from '@/ui/badge.tsx'

export type User = Data<'/api/v1/admin/users'>['items'][number]
export type Team = Data<'/api/v1/admin/teams'>['items'][number]
export type ServiceAccount = Data<'/api/v1/admin/service-accounts'>['items'][number]
export type ApiKey = Data<'/api/v1/admin/api-keys'>['items'][number]
export type ModelAccess = User['model_access']
export type TeamRole = NonNullable<User['team']>['role']

export const teamRoles = ['member', 'admin', 'owner'] as const satisfies readonly TeamRole[]

const tones = {
  active: 'good',
  invited: 'accent',
  disabled: 'bad',
  expired: 'warn',
  revoked: 'plain',
} as const

export function Status({ status }: { status: keyof typeof tones }) {
  return <Badge tone={tones[status]}>{status}</Badge>
}

/** A short text for the models that an owner may use. */
export function accessText({ mode, models }: ModelAccess): string {
  if (mode === 'all') return 'all models'
  return models.length === 0 ? 'no models' : models.join(', ')
}

/** A short text for the models that a key grants. */
export function grantText({ model_grant_mode, granted_models }: ApiKey): string {
  if (model_grant_mode === 'all') return 'all models of the owner'
  return granted_models.length === 0 ? 'no models' : granted_models.join(', ')
}

/** A short text for the MCP servers that a key may use. */
export function serversText({ mcp_servers }: ApiKey): string {
  if (mcp_servers === 'all') return 'all'
  return mcp_servers.length === 0 ? 'none' : mcp_servers.join(', ')
}

/** Refetches everything that shows users, teams, service accounts or keys. */
export function invalidateIdentity(): Promise<void> {
  return invalidate(
    '/api/v1/admin/users',
    '/api/v1/admin/users/{user_id}',
    '/api/v1/admin/teams',
    '/api/v1/admin/teams/{team_id}',
    '/api/v1/admin/teams/{team_id}/members',
    '/api/v1/admin/service-accounts',
    '/api/v1/admin/service-accounts/{service_account_id}',
    '/api/v1/admin/api-keys',
    '/api/v1/admin/api-keys/{api_key_id}',
    '/api/v1/me/api-keys',
    // The changed user may be the signed-in one.
    '/api/v1/auth/session',
    '/api/v1/admin/spend/budgets',
  )
}
