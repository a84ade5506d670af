import type { GuardedOperation } from 'model-gateway/guardrail'

/** The coding agents whose hooks are understood. */
export const hookFormats = ['claude_code', 'codex', 'gemini_cli', 'copilot_cli'] as const
export type HookFormat = (typeof hookFormats)[number]

/** A tool call that a coding agent is about to make. */
export type HookCall = Pick<GuardedOperation, 'content' | 'server'>

type Fields = Readonly<Record<string, unknown>>

/** A tool and the MCP server that it belongs to. */
interface Tool {
  readonly tool: string
  readonly server?: string
}

/** Characters of a server's key. */
const LONGEST_KEY = 64

/** `mcp__server__tool` */
const MCP_TOOL = /^mcp__(.+?)__(.+)$/s

/**
 * Parses the JSON that an agent passes to its pre-tool hook; undefined for other JSON. `isServer`:
 * whether a server with this key exists.
 */
export function readHook(
  format: HookFormat,
  hook: unknown,
  isServer: (key: string) => boolean = () => false,
): HookCall | undefined {
  if (typeof hook !== 'object' || hook === null) return undefined
  const fields = hook as Fields
  const copilot = format === 'copilot_cli'
  const name = (copilot ? fields.toolName : undefined) ?? fields.tool_name
  const given = copilot && fields.toolArgs !== undefined ? fields.toolArgs : fields.tool_input
  const input = given === undefined ? {} : given
  if (typeof name !== 'string' || name === '') return undefined
  const inName = readName(name, copilot, isServer)
  const { tool_name: tool = inName.tool, server_name: server = inName.server } = textsOf(
    fields.mcp_context,
  )
  return {
    content: {
      kind: 'tool_calls',
      calls: [
        {
          tool,
          // The policy rejects arguments that are not an object.
          arguments: copilot && typeof input === 'string' ? input : JSON.stringify(input),
        },
      ],
    },
    ...(server !== undefined && { server: { key: server, aliases: [] } }),
  }
}

function readName(name: string, copilot: boolean, isServer: (key: string) => boolean): Tool {
  const [, server, tool] = MCP_TOOL.exec(name) ?? []
  if (server !== undefined && tool !== undefined) return { tool, server }
  return copilot && name.includes('-') ? readHyphens(name, isServer) : { tool: name }
}

/**
 * Parses `server-tool`, Copilot's name for the tool of an MCP server. Both parts may contain
 * hyphens; Copilot's own tools have none. If the server is unknown, the split is a guess that
 * prefers a long server name, because packs search for words in it and tool names with underscores
 * rarely have hyphens.
 */
function readHyphens(name: string, isServer: (key: string) => boolean): Tool {
  const last = name.lastIndexOf('-')
  for (let at = name.lastIndexOf('-', LONGEST_KEY); at > 0; at = name.lastIndexOf('-', at - 1)) {
    const server = name.slice(0, at)
    if (isServer(server)) return { tool: name.slice(at + 1), server }
  }
  const end = name.slice(last + 1)
  const tool = end.includes('_') ? end : name.slice(name.indexOf('-') + 1)
  return { tool, server: name.slice(0, last) }
}

/** Further members of an MCP tool, as far as they are strings. */
function textsOf(context: unknown): { readonly tool_name?: string; readonly server_name?: string } {
  const entries = Object.entries(typeof context === 'object' && context !== null ? context : {})
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string' && text !== ''))
}

/**
 * The hook output that the agent expects: `denial` is the reason; without it the tool is allowed.
 * `notice`: shown to the user, if the agent supports it.
 */
export function hookAnswer(
  format: HookFormat,
  denial: string | undefined,
  notice?: string,
): string {
  if (denial === undefined) return format === 'gemini_cli' ? '{}' : ''
  const decision = { permissionDecision: 'deny', permissionDecisionReason: denial }
  const shown = notice === undefined ? {} : { systemMessage: notice }
  switch (format) {
    case 'gemini_cli':
      return JSON.stringify({ ...shown, decision: 'deny', reason: denial })
    case 'copilot_cli':
      return JSON.stringify(decision)
    default:
      return JSON.stringify({
        ...shown,
        hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision },
      })
  }
}

/**
 * Whether the agent would read a verdict in this text. Each agent takes other texts for an
 * allowance.
 */
export function isHookAnswer(format: HookFormat, text: string): boolean {
  return isAllowance(format, text) || denialIn(format, text) !== undefined
}

export function isAllowance(format: HookFormat, text: string): boolean {
  return text === '' || text === hookAnswer(format, undefined)
}

/** The denial reason in a hook output; undefined if the agent would not see a denial. */
export function denialIn(format: HookFormat, text: string): string | undefined {
  let answer: Fields | null
  try {
    answer = JSON.parse(text) as Fields | null
  } catch {
    return undefined
  }
  const own = answer?.hookSpecificOutput as Fields | undefined
  const output = format === 'claude_code' || format === 'codex' ? own : answer
  const isGemini = format === 'gemini_cli'
  if (output?.[isGemini ? 'decision' : 'permissionDecision'] !== 'deny') return undefined
  return String(output[isGemini ? 'reason' : 'permissionDecisionReason'] ?? '')
}
