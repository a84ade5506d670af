import { foldKey, isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ToolCall } from './command-pack.ts'
import { unwrapped } from './json-text.ts'
import { identityWords } from './tool-identity.ts'
import { wordSet } from './word-lists.ts'

/** Names of tools that run a command, in identity words joined by `_`. */
const shellTools = wordSet(`
  bash computer_run_command exec exec_command execute_bash execute_command execute_shell
  execute_shell_command local_shell powershell run_bash run_command run_in_terminal run_shell
  run_shell_command run_terminal_cmd run_terminal_command sh shell shell_command shell_exec terminal
  zsh
`)

/** Where such a tool is given its command. */
const places: readonly (readonly string[])[] = [
  ['command'],
  ['cmd'],
  ['script'],
  ['code'],
  ['commands'],
  ['input'],
  ['input', 'command'],
  ['arguments', 'command'],
]

/** The command that a shell-like tool is to run: text, or an argument vector; text when there are several. */
export function shellCommand(call: ToolCall): string | readonly string[] | undefined {
  if (!isShellTool(call.tool)) return undefined
  let command: string | readonly string[] | undefined
  for (const place of places) {
    for (const value of valuesAt(call.arguments, place)) {
      const given = commandAt(value, place)
      if (given.length === 0) continue
      command = command === undefined ? given : `${asText(command)}\n${asText(given)}`
    }
  }
  return command
}

/** By its whole name, or by what stands behind a namespace: `functions.shell`, `mcp__host__bash`. */
function isShellTool(name: string): boolean {
  const own = name.split(/__|[./:]/).at(-1) ?? name
  return [name, own].some((each) => shellTools.has(identityWords(each).join('_')))
}

function commandAt(given: JsonValue, place: readonly string[]): string | readonly string[] {
  // A list, or a list that the model wrote as text.
  const parsed = unwrapped(given)
  const found = Array.isArray(parsed) ? parsed : given
  if (!Array.isArray(found)) return typeof found === 'string' ? found : ''
  // Several commands, one after the other; anywhere else a list is one command's words.
  if (place[0] !== 'commands') return found.map(String)
  return found
    .map((each) => asText(Array.isArray(each) ? each.map(String) : String(each)))
    .join('\n')
}

/** An argument vector as a shell would have to be given it. */
function asText(command: string | readonly string[]): string {
  if (typeof command === 'string') return command
  return command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** All values at a place, its keys in any case: servers that ignore case run each of them. */
function valuesAt(value: JsonValue, place: readonly string[]): readonly JsonValue[] {
  let here: readonly JsonValue[] = [value]
  for (const key of place) {
    here = here.flatMap((each) =>
      isJsonObject(each)
        ? Object.keys(each)
            .filter((name) => foldKey(name) === key)
            .map((name) => each[name] as JsonValue)
        : [],
    )
  }
  return here
}
