import type { ToolCall } from './command-pack.ts'

/** Names that count as one word despite an inner capital letter. */
const brands = /PowerShell|JavaScript|TypeScript|GitHub|GitLab|IPython|NodeJS/g

/** `API-updateA_block.v2` is `['api', 'update', 'a', 'block', 'v2']`. */
export function identityWords(name: string): readonly string[] {
  return name
    .replace(brands, (brand) => brand.charAt(0) + brand.slice(1).toLowerCase())
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-._/:\s]+/)
    .filter((word) => word !== '')
}

/**
 * A tool's name without its namespace: `shell` for `functions.shell`, `bash` for `mcp__host__bash`.
 */
export function ownName(tool: string): string {
  return tool.split(/__|[./:]/).findLast((part) => part !== '') ?? tool
}

/**
 * Whether a word of the server's key or alias in the registry matches: `aws` for `production-aws2`,
 * with or without a trailing number. The tool name that the model wrote says nothing about the
 * server.
 */
export function onServer(call: ToolCall, fits: (word: string) => boolean): boolean {
  if (call.server === undefined) return false
  return [call.server.key, ...call.server.aliases].some((name) =>
    // `BigQuery` is `big` and `query`, and also one name.
    [...identityWords(name), ...identityWords(name.toLowerCase())].some(
      (word) => fits(word) || fits(word.replace(/(?<!\d)\d+$/, '')),
    ),
  )
}
