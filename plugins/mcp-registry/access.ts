import type { McpServer } from 'model-gateway/mcp'
import type { Allowlist, ToolRule } from './config.ts'

interface Access {
  readonly allowlist?: Allowlist | null | undefined
  readonly tools?: ToolRule | null | undefined
}

/** Problems of an allowlist or tool rule that the schema cannot express, by field. */
export function* accessProblems({
  allowlist,
  tools,
}: Access): Iterable<{ readonly field: string; readonly message: string }> {
  if (allowlist && !Object.values(allowlist).some((list) => list.length > 0)) {
    const message = 'is empty, so no key may use the server; remove it to allow every owner'
    yield { field: 'allowlist', message }
  }
  if (tools && tools.allow === undefined && tools.deny === undefined) {
    yield { field: 'tools', message: 'has neither allow nor deny; remove it to allow every tool' }
  }
}

/** Functions for calls: who may use a server, and which of its tools. */
export function accessOf({ allowlist, tools }: Access): Pick<McpServer, 'admits' | 'offers'> {
  return {
    ...(allowlist && { admits: admitting(allowlist) }),
    ...(tools && { offers: offering(tools) }),
  }
}

function admitting({ users, teams, service_accounts }: Allowlist): McpServer['admits'] & {} {
  const emails = new Set(users?.map((email) => email.trim().toLowerCase()))
  return (owner) =>
    owner.kind === 'service_account'
      ? (service_accounts?.includes(owner.key) ?? false)
      : emails.has(owner.email) ||
        (owner.team !== undefined && (teams?.includes(owner.team.key) ?? false))
}

/**
 * A denied name matches in any case and with outer spaces, because some servers trim names or
 * ignore case. An allowed name must match exactly.
 */
export function offering({ allow, deny }: ToolRule): McpServer['offers'] & {} {
  const allowed = allow && new Set(allow)
  const folded = (name: string) => name.trim().toLowerCase()
  const denied = new Set(deny?.map(folded))
  return (name) => !denied.has(folded(name)) && (allowed?.has(name) ?? true)
}
