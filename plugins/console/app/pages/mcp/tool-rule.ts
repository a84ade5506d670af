import type { Server } from '@/pages/mcp/query.ts'

/** The rule after hiding the tool from callers. */
export function hiding(rule: Server['tools'], name: string): Server['tools'] {
  return { ...rule, deny: [...(rule?.deny ?? []), name] }
}

/** The rule after showing the tool; null if no rule is left. */
export function showing(rule: Server['tools'], name: string): Server['tools'] {
  const folded = (text: string) => text.trim().toLowerCase()
  const deny = (rule?.deny ?? []).filter((denied) => folded(denied) !== folded(name))
  const allow = rule?.allow && [...new Set([...rule.allow, name])]
  if (deny.length === 0 && allow === undefined) return null
  return { ...(allow !== undefined && { allow }), ...(deny.length > 0 && { deny }) }
}
