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
  /** Where its hooks are: in the folder of a project, or for a user. */
  file(scope: Scope, cwd: string, home: string, env: Env): string
  /** Whether it reads a file with comments and trailing commas. */
  readonly comments: boolean
  /** The list of what it runs before it uses a tool. */
  readonly list: readonly [string, string]
  /** Members of a list entry that has a list of hooks. Absent: the entry itself is the hook. */
  readonly group?: Fields
  /** The member of a hook that has the command. */
  readonly command: 'command' | 'bash'
  /** The other members of a hook. */
  readonly hook: Fields
  /** Members that the file must have. */
  readonly head?: Fields
  /** The member of its settings that switches hooks off, and the value with which it does. */
  readonly off?: { readonly path: readonly string[]; readonly value: boolean }
  /** The program that runs the command, which comes behind it. */
  shell(env: Env): readonly string[]
  /** What it tells the hook before it runs a shell command. */
  call(command: string, cwd: string): Fields
  /** What a person has to do after the hook is written. */
  readonly next: string
}

/** Longer than the guard itself takes: agents let a tool pass whose hook is late. */
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
    // It lets a tool pass whose hook fails, unless the hook says otherwise.
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
