import { join } from 'node:path'
import type { HookFormat } from './hooks.ts'

export type Scope = 'project' | 'user'
export type Env = Readonly<Record<string, string | undefined>>
type Fields = Readonly<Record<string, unknown>>

/** A coding agent, as far as its hooks go. */
export interface Agent {
  /** As it is written on the command line. */
  readonly name: string
  readonly format: HookFormat
  /** The file with its hooks, for a project or for the user. */
  file(scope: Scope, cwd: string, home: string, env: Env): string
  /** Whether the file may have comments and trailing commas. */
  readonly comments: boolean
  /** Path of the list of hooks that run before a tool. */
  readonly list: readonly [string, string]
  /** Members of a list entry that has a list of hooks. Absent: the entry itself is the hook. */
  readonly group?: Fields
  /** The member of a hook with the command. */
  readonly command: 'command' | 'bash'
  /** The other members of a hook. */
  readonly hook: Fields
  /** Members that the file must have. */
  readonly head?: Fields
  /** The setting that disables hooks, and the value that does so. */
  readonly off?: { readonly path: readonly string[]; readonly value: boolean }
  /** The program that runs the command, which is its last argument. */
  shell(env: Env): readonly string[]
  /** The JSON that it passes to the hook before a shell command. */
  call(command: string, cwd: string): Fields
  /** What the user must do after the hook is installed. */
  readonly next: string
}

/** Longer than the timeout of the guard, because agents allow the tool when a hook times out. */
const TIMEOUT_SECS = 30

const session = { session_id: 'gateway-guard-doctor', transcript_path: null }
const bash = (command: string, cwd: string) => ({
  ...session,
  cwd,
  hook_event_name: 'PreToolUse',
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: 'gateway-guard-doctor',
})

export const agents: readonly Agent[] = [
  {
    name: 'claude-code',
    format: 'claude_code',
    file: (scope, cwd, home, env) =>
      scope === 'project'
        ? join(cwd, '.claude/settings.json')
        : join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
    comments: false,
    list: ['hooks', 'PreToolUse'],
    group: { matcher: '*' },
    command: 'command',
    // Claude Code allows the tool when a hook fails, unless onFailure is block.
    hook: { type: 'command', timeout: TIMEOUT_SECS, onFailure: 'block' },
    off: { path: ['disableAllHooks'], value: true },
    shell: () => ['/bin/sh', '-c'],
    call: bash,
    next: 'Restart Claude Code.',
  },
  {
    name: 'codex',
    format: 'codex',
    file: (scope, cwd, home, env) =>
      scope === 'project'
        ? join(cwd, '.codex/hooks.json')
        : join(env.CODEX_HOME || join(home, '.codex'), 'hooks.json'),
    comments: false,
    list: ['hooks', 'PreToolUse'],
    group: { matcher: '.*' },
    command: 'command',
    hook: { type: 'command', timeout: TIMEOUT_SECS },
    shell: ({ SHELL }) => [SHELL || '/bin/sh', '-lc'],
    call: bash,
    next: 'Start Codex, open /hooks and trust the hook. Codex runs only trusted hooks, and runs project hooks only in trusted projects.',
  },
  {
    name: 'gemini-cli',
    format: 'gemini_cli',
    file: (scope, cwd, home, env) =>
      join(scope === 'project' ? cwd : env.GEMINI_CLI_HOME || home, '.gemini/settings.json'),
    comments: true,
    list: ['hooks', 'BeforeTool'],
    group: { matcher: '.*' },
    command: 'command',
    hook: { type: 'command', timeout: TIMEOUT_SECS * 1000 },
    off: { path: ['hooksConfig', 'enabled'], value: false },
    shell: () => ['bash', '-c'],
    call: (command, cwd) => ({
      ...session,
      cwd,
      hook_event_name: 'BeforeTool',
      timestamp: new Date().toISOString(),
      tool_name: 'run_shell_command',
      tool_input: { command },
    }),
    next: 'Restart Gemini CLI. It runs project hooks only in trusted folders.',
  },
  {
    name: 'copilot-cli',
    format: 'copilot_cli',
    file: (scope, cwd, home, env) =>
      scope === 'project'
        ? join(cwd, '.github/hooks/gateway.json')
        : join(env.COPILOT_HOME || join(home, '.copilot'), 'hooks/gateway.json'),
    comments: false,
    list: ['hooks', 'preToolUse'],
    command: 'bash',
    hook: { type: 'command', timeoutSec: TIMEOUT_SECS },
    head: { version: 1 },
    off: { path: ['disableAllHooks'], value: true },
    shell: () => ['bash', '-c'],
    call: (command, cwd) => ({
      timestamp: Date.now(),
      cwd,
      toolName: 'bash',
      toolArgs: JSON.stringify({ command }),
    }),
    next: 'Restart Copilot CLI.',
  },
]
