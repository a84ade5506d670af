import { type Data, invalidate } from '@/api/query.ts'
import type { Tone } from '@/ui/badge.tsx'

export type Server = Data<'/api/v1/admin/mcp/servers'>['items'][number]
export type Tool = Data<'/api/v1/admin/mcp/servers/{server_id}/tools'>['items'][number]
export type Run = Data<'/api/v1/admin/mcp/servers/{server_id}/discovery-runs'>['items'][number]
export type Call = Data<'/api/v1/admin/observability/mcp-invocations'>['items'][number]
export type Suggestion = Data<'/api/v1/admin/mcp/recommended-servers'>['items'][number]

/** After a change of a server. */
export function invalidateServers(): Promise<void> {
  return invalidate('/api/v1/admin/mcp/servers', '/api/v1/admin/mcp/servers/{server_id}')
}

export const authNames: Readonly<Record<string, string>> = {
  none: 'nothing is sent',
  gateway_bearer_token: "gateway's bearer token",
  gateway_static_header: "gateway's secret in a header",
  user_passthrough: "caller's own credentials",
  oauth_obo: 'token on behalf of the caller',
}

/** How the last look at a server's tools ended. */
export const discoveryNames: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  never: ['never looked', 'plain'],
  success: ['discovered', 'good'],
  failed: ['failed', 'bad'],
  auth_required: ['wants credentials', 'warn'],
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
  not_evaluated: ['not judged', 'plain'],
}
