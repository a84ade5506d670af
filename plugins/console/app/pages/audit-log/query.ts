import type { Data } from '@/api/query.ts'
import { type Filter, instant, page, text, usualOf } from '@/lib/filters.ts'

export type Entry = Data<'/api/v1/admin/audit-log'>['items'][number]

export const objectKinds = [
  'user',
  'team',
  'service_account',
  'api_key',
  'budget',
  'mcp_server',
  'request_log',
  'mcp_invocation',
  'spend',
  'address',
] as const

export const objectNames: Readonly<Record<string, string>> = {
  user: 'user',
  team: 'team',
  service_account: 'service account',
  api_key: 'API key',
  budget: 'budget',
  mcp_server: 'MCP server',
  request_log: 'request',
  mcp_invocation: 'tool call',
  spend: 'spend',
  address: 'address',
}

const pages: Readonly<Record<string, string>> = {
  user: '/identity/users',
  team: '/identity/teams',
  service_account: '/identity/service-accounts',
  api_key: '/identity/api-keys',
  budget: '/budgets',
  mcp_server: '/mcp/servers',
  request_log: '/requests',
  mcp_invocation: '/mcp/invocations',
}

/** Object IDs of rejected calls without a known object, or with several. */
const NO_OBJECT = ['unknown', 'several']

/** The ID of a user; any other text is ignored. */
const userId: Filter<string> = {
  read: (value) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value ?? '') ? (value as string) : '',
  write: text.write,
}

/** The filters of the page; the names are those of the API. */
export const filters = {
  occurred_at_start: instant,
  occurred_at_end: instant,
  actor_user_id: userId,
  object_kind: text,
  action: text,
  object_id: text,
  request_id: text,
  page,
}
export const cleared = usualOf(filters, 'page')

/** Events that are not changes. */
const events = [
  'auth.sign_in',
  'auth.sign_in_refused',
  'auth.locked_out',
  'auth.password_refused',
  'auth.sign_out',
  'api_key.refused',
  'request_log.payload_read',
  'mcp_invocation.payload_read',
  'spend.exported',
]

/** All actions, in the order of the filter's options. */
export const actions = [
  ...events,
  'user.create',
  'user.update',
  'user.change_password',
  'user.make_admin',
  'user.unlock',
  'team.create',
  'team.update',
  'team.delete',
  'team.set_member',
  'team.remove_member',
  'service_account.create',
  'service_account.update',
  'api_key.create',
  'api_key.update',
  'api_key.rotate',
  'api_key.revoke',
  'budget.set',
  'budget.deactivate',
  'harness_name.set',
  'harness_name.remove',
  'mcp_server.create',
  'mcp_server.update',
  'mcp_server.enable',
  'mcp_server.disable',
  'mcp_server.secret_moved',
  'mcp_server.discovery_refresh',
]

export function isEvent({ action }: Entry): boolean {
  return events.includes(action)
}

/** `set member` of `team.set_member`. */
export function verbOf({ action }: Entry): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', ' ')
}

/** The current or former name of the object; undefined if it has none. */
export function nameOf({ before, after }: Entry): string | undefined {
  for (const state of [after, before]) {
    if (typeof state !== 'object' || state === null) continue
    for (const key of ['name', 'display_name']) {
      const name = (state as Readonly<Record<string, unknown>>)[key]
      if (typeof name === 'string' && name !== '') return name
    }
  }
  return undefined
}

/** The page of the object; undefined if it has none. */
export function pageOf({ object_kind, object_id }: Entry): string | undefined {
  const path = pages[object_kind]
  return path === undefined || NO_OBJECT.includes(object_id)
    ? undefined
    : `${path}/${encodeURIComponent(object_id)}`
}

/** The actor. Rejected calls of unknown callers have none. */
export function actorOf(entry: Entry): string {
  const { actor_email, actor_user_id } = entry
  return actor_email ?? actor_user_id ?? (isEvent(entry) ? 'not signed in' : 'command line')
}
