import { type GuardInput, isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { identityWords } from './tool-identity.ts'

type ToolCall = Extract<GuardInput, { kind: 'tool_call' }>

/** Names of tools that run a command, in identity words joined by `_`. */
const shellTools: ReadonlySet<string> = new Set([
  'bash',
  'computer_run_command',
  'exec',
  'exec_command',
  'execute_bash',
  'execute_command',
  'execute_shell',
  'execute_shell_command',
  'local_shell',
  'powershell',
  'run_bash',
  'run_command',
  'run_in_terminal',
  'run_shell',
  'run_shell_command',
  'run_terminal_cmd',
  'run_terminal_command',
  'sh',
  'shell',
  'shell_command',
  'shell_exec',
  'terminal',
  'zsh',
])

/** Where such a tool is given its command. */
const places: readonly (readonly string[])[] = [
  ['command'],
  ['cmd'],
  ['script'],
  ['code'],
  ['input', 'command'],
  ['arguments', 'command'],
]

/** The command that a shell-like tool is to run: text, or an argument vector. */
export function shellCommand(call: ToolCall): string | readonly string[] | undefined {
  if (!shellTools.has(identityWords(call.tool).join('_'))) return undefined
  for (const place of places) {
    const found = at(call.arguments, place)
    if (typeof found === 'string') return found
    if (Array.isArray(found) && found.length > 0) return found.map(String)
  }
  return undefined
}

function at(value: JsonValue, place: readonly string[]): JsonValue | undefined {
  let here: JsonValue | undefined = value
  for (const key of place) here = isJsonObject(here) ? here[key] : undefined
  return here
}
