import { accessSync, constants } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Agent } from './hook-agents.ts'

/**
 * The hook's command. Agents let a tool pass when a hook ends with any exit code but 2, as one does whose
 * program is not there.
 */
export function hookCommand(
  program: readonly string[],
  { format }: Agent,
  options: readonly string[],
): string {
  const words = [...program, 'guard', '--format', format, ...options]
  return `${words.map(quoted).join(' ')} || exit 2`
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The words of such a command, up to what follows it. */
export function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []
  const end = words.findIndex((word) => /^[|&;<>]/.test(word))
  return words
    .slice(0, end === -1 ? undefined : end)
    .map((word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3'))
}

/** What of the command's program an agent does not find, or may not; undefined when all is there. */
export function missingProgram(words: readonly string[]): string | undefined {
  const program = words.slice(0, words.indexOf('guard'))
  const [first = ''] = program
  if (!isAbsolute(first) && Bun.which(first) === null) return first
  return program
    .filter((word) => isAbsolute(word) && word !== '/dev/null')
    .find((path) => !isThere(path, path === first))
}

function isThere(path: string, runs: boolean): boolean {
  try {
    accessSync(path, runs ? constants.X_OK : constants.R_OK)
    return true
  } catch {
    return false
  }
}
