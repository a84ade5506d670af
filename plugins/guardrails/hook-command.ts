import { accessSync, constants } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Agent } from './hook-agents.ts'

/**
 * The command of the hook. It maps every failure to exit code 2, because agents allow the tool on
 * any other code, for instance if the program is missing.
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

/** The words of such a command, without its `|| exit 2`. */
export function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []
  const end = words.findIndex((word) => /^[|&;<>]/.test(word))
  return words
    .slice(0, end === -1 ? undefined : end)
    .map((word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3'))
}

/** The file of the command that is missing or not executable; undefined if all are fine. */
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
