import type { Server } from '@/pages/mcp/query.ts'

/** The rule with the tool hidden from callers. */
export function hiding(rule: Server['tools'], name: string): Server['tools'] {
  return { ...rule, deny: [...(rule?.deny ?? []), name] }
}

/** The rule with the tool on offer; null when it says nothing any more. */
export function showing(rule: Server['tools'], name: string): Server['tools'] {
  const folded = (text: string) => text.trim().toLowerCase()
  const deny = (rule?.deny ?? []).filter((denied) => folded(denied) !== folded(name))
  const allow = rule?.allow && [...new Set([...rule.allow, name])]
  if (deny.length === 0 && allow === undefined) return null
  return { ...(allow !== undefined && { allow }), ...(deny.length > 0 && { deny }) }
}
