import type { HookFormat } from '../hooks.ts'

interface HookCase {
  readonly format: HookFormat
  /** What the agent writes before it runs a shell command. */
  shell(command: string): object
  /** What it writes before it calls a tool of an MCP server. */
  mcp(server: string, tool: string, args: object): object
  /** What tells it to leave the tool alone, with the reason. */
  reasonOf(answer: unknown): unknown
  /** What lets it go on. */
  readonly allowed: string
}

const session = { session_id: 's1', transcript_path: '/tmp/t.jsonl', cwd: '/tmp', turn: 3 }

const claude = (format: 'claude_code' | 'codex'): HookCase => ({
  format,
  shell: (command) => ({
    ...session,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'Runs it' },
    tool_use_id: 'toolu_1',
  }),
  mcp: (server, tool, args) => ({
    ...session,
    hook_event_name: 'PreToolUse',
    tool_name: `mcp__${server}__${tool}`,
    tool_input: args,
  }),
  reasonOf(answer) {
    const { hookSpecificOutput: output } = answer as { hookSpecificOutput: Record<string, unknown> }
    return output.hookEventName === 'PreToolUse' && output.permissionDecision === 'deny'
      ? output.permissionDecisionReason
      : undefined
  },
  allowed: '',
})

/** The four agents, as they call their hooks and read the answers. */
export const hookCases: readonly HookCase[] = [
  claude('claude_code'),
  claude('codex'),
  {
    format: 'gemini_cli',
    shell: (command) => ({
      ...session,
      hook_event_name: 'BeforeTool',
      tool_name: 'run_shell_command',
      tool_input: { command },
    }),
    mcp: (server, tool, args) => ({
      ...session,
      hook_event_name: 'BeforeTool',
      tool_name: `mcp_${server}_${tool}`,
      tool_input: args,
      mcp_context: { server_name: server, tool_name: tool },
    }),
    reasonOf(answer) {
      const { decision, reason } = answer as Record<string, unknown>
      return decision === 'deny' ? reason : undefined
    },
    allowed: '{}',
  },
  {
    format: 'copilot_cli',
    shell: (command) => ({
      timestamp: 1_704_614_400_000,
      cwd: '/tmp',
      toolName: 'bash',
      toolArgs: JSON.stringify({ command, description: 'Runs it' }),
    }),
    mcp: (server, tool, args) => ({
      timestamp: 1_704_614_400_000,
      cwd: '/tmp',
      toolName: `${server}-${tool}`,
      toolArgs: JSON.stringify(args),
    }),
    reasonOf(answer) {
      const { permissionDecision, permissionDecisionReason } = answer as Record<string, unknown>
      return permissionDecision === 'deny' ? permissionDecisionReason : undefined
    },
    allowed: '',
  },
]
