import type { GuardedOperation } from 'model-gateway/plugin'

/** The coding agents whose hooks are understood. */
export const hookFormats = ['claude_code', 'codex', 'gemini_cli', 'copilot_cli'] as const
export type HookFormat = (typeof hookFormats)[number]

/** A tool call that a coding agent is about to make. */
export type HookCall = Pick<GuardedOperation, 'content' | 'server'>

type Fields = Readonly<Record<string, unknown>>

/** `mcp__server__tool` */
const MCP_TOOL = /^mcp__(.+?)__(.+)$/s

/** Reads what an agent tells its hook before it uses a tool; undefined when it is something else. */
export function readHook(format: HookFormat, hook: unknown): HookCall | undefined {
  if (typeof hook !== 'object' || hook === null) return undefined
  const fields = hook as Fields
  const copilot = format === 'copilot_cli'
  const name = (copilot ? fields.toolName : undefined) ?? fields.tool_name
  const input = (copilot ? fields.toolArgs : undefined) ?? fields.tool_input ?? {}
  if (typeof name !== 'string' || name === '') return undefined
  const mcp = MCP_TOOL.exec(name)
  const server = contextServer(fields.mcp_context) ?? mcp?.[1]
  return {
    content: {
      kind: 'tool_calls',
      calls: [
        {
          tool: mcp?.[2] ?? name,
          // What is no object is for the policy to refuse.
          arguments: copilot && typeof input === 'string' ? input : JSON.stringify(input),
        },
      ],
    },
    ...(server !== undefined && { server: { key: server, aliases: [] } }),
  }
}

function contextServer(context: unknown): string | undefined {
  const name = typeof context === 'object' ? (context as Fields | null)?.server_name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** What the agent wants to read on standard output; `denial` says why not, absent it may go on. */
export function hookAnswer(format: HookFormat, denial: string | undefined): string {
  if (denial === undefined) return format === 'gemini_cli' ? '{}' : ''
  const decision = { permissionDecision: 'deny', permissionDecisionReason: denial }
  switch (format) {
    case 'gemini_cli':
      return JSON.stringify({ decision: 'deny', reason: denial })
    case 'copilot_cli':
      return JSON.stringify(decision)
    default:
      return JSON.stringify({
        hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision },
      })
  }
}

/** Whether an agent would read a verdict in this; each takes anything else for an allowance. */
export function isHookAnswer(format: HookFormat, text: string): boolean {
  if (text === '' || text === hookAnswer(format, undefined)) return true
  let answer: Fields | null
  try {
    answer = JSON.parse(text) as Fields | null
  } catch {
    return false
  }
  switch (format) {
    case 'gemini_cli':
      return answer?.decision === 'deny'
    case 'copilot_cli':
      return answer?.permissionDecision === 'deny'
    default:
      return (answer?.hookSpecificOutput as Fields | undefined)?.permissionDecision === 'deny'
  }
}
