import { type Data, invalidate } from '@/api/query.ts'
import type { Tone } from '@/ui/badge.tsx'

export type Server = Data<'/api/v1/admin/mcp/servers'>['items'][number]
export type Tool = Data<'/api/v1/admin/mcp/servers/{server_id}/tools'>['items'][number]
export type Run = Data<'/api/v1/admin/mcp/servers/{server_id}/discovery-runs'>['items'][number]
export type Call = Data<'/api/v1/admin/observability/mcp-invocations'>['items'][number]
export type Suggestion = Data<'/api/v1/admin/mcp/recommended-servers'>['items'][number]

/** Refetches the servers after a change. */
export function invalidateServers(): Promise<void> {
  return invalidate('/api/v1/admin/mcp/servers', '/api/v1/admin/mcp/servers/{server_id}')
}

export const authNames: Readonly<Record<string, string>> = {
  none: 'none',
  gateway_bearer_token: 'bearer token of the gateway',
  gateway_static_header: 'header with a secret of the gateway',
  user_passthrough: 'credentials of the caller',
  oauth_obo: 'on-behalf-of token (OAuth)',
}

/** The outcome of a server's last discovery. */
export const discoveryNames: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  never: ['never run', 'plain'],
  success: ['succeeded', 'good'],
  failed: ['failed', 'bad'],
  auth_required: ['credentials required', 'warn'],
  disabled: ['disabled', 'plain'],
}

export const callStatuses = [
  'started',
  'success',
  'tool_error',
  'unauthorized',
  'policy_denied',
  'upstream_error',
  'gateway_error',
  'timeout',
  'cancelled',
  'incomplete',
  'invalid_request',
] as const

export function callTone(status: Call['status']): Tone {
  if (status === 'success') return 'good'
  if (status === 'started') return 'accent'
  if (status === 'cancelled' || status === 'incomplete') return 'plain'
  return status === 'tool_error' || status === 'policy_denied' ? 'warn' : 'bad'
}

export const policyNames: Readonly<Record<Call['policy_result'], readonly [string, Tone]>> = {
  allowed: ['allowed', 'good'],
  denied: ['denied', 'bad'],
  not_evaluated: ['not evaluated', 'plain'],
}
