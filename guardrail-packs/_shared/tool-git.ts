import type { JsonValue } from 'model-gateway/plugin'
import type { ToolCall } from './command-pack.ts'
import { type Field, listOf } from './tool-fields.ts'
import { onServer } from './tool-identity.ts'
import { wordSet } from './word-lists.ts'

/** Subcommands in tool names, with the prefix `git_` or on a git server. */
const subcommands = wordSet(`
  add am apply branch checkout cherry_pick clean clone commit diff fetch filter_branch gc init log merge
  mv pull push rebase reflog remote reset restore revert rm show stash status submodule switch tag
  update_ref worktree
`)
/** Arguments that select the subcommand's mode. */
const modeKeys = wordSet('action command mode operation subcommand')
/** Modes that are options in git. */
const optionModes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['reset', wordSet('hard keep merge mixed soft')],
  ['branch', wordSet('copy delete list move rename')],
  ['tag', wordSet('delete list')],
])
/** Words of a tool's name that are options or modes: `git_force_push`, `git_stash_drop`. */
const namedOptions = wordSet('delete force hard mirror')
const namedModes = wordSet('clear drop expire remove')
const pathKeys = wordSet('file files path paths pathspec pathspecs')
const refKeys = wordSet(`
  branch branch_name commit name new_branch ref refspec revision source stash_ref target worktree_path
`)
const argumentKeys = wordSet('args arguments extra_args flags options')
const branchModes = new Map([['rename', 'move']])

/** A git tool's call as git's command line. */
export function gitCommands(
  call: ToolCall,
  words: readonly string[],
  fields: readonly Field[],
): readonly (readonly string[])[] {
  const named = words[0] === 'git' ? words.slice(1) : words
  if (named === words && !onServer(call, (word) => word === 'git')) return none
  const subcommand = subcommandOf(named, fields)
  if (subcommand === undefined) return none
  const options: string[] = []
  const operands: string[] = []
  const paths: string[] = []
  for (const word of named) {
    if (namedOptions.has(word)) options.push(`--${word}`)
    else if (namedModes.has(word)) operands.push(word)
  }
  for (const { key, value } of fields) {
    if (value === true || value === 'true') options.push(`--${key.replaceAll('_', '-')}`)
    else if (modeKeys.has(key) && typeof value === 'string')
      addMode(subcommand, value, options, operands)
    else if (typeof value === 'string' && optionModes.get(subcommand)?.has(value))
      options.push(`--${value}`)
    else if (key === 'prune' && typeof value === 'string') options.push(`--prune=${value}`)
    else if (argumentKeys.has(key)) options.push(...textsOf(value))
    else if (pathKeys.has(key)) paths.push(...textsOf(value))
    else if (refKeys.has(key)) operands.push(...textsOf(value))
    else if (key === 'remote') operands.unshift(...textsOf(value))
  }
  const forcedDelete =
    subcommand === 'branch' && options.includes('--delete') && options.includes('--force')
  if (forcedDelete) options.push('-D')
  const behind = paths.length > 0 ? ['--', ...paths] : []
  return [['git', subcommand.replaceAll('_', '-'), ...operands, ...options, ...behind]]
}

const none: readonly (readonly string[])[] = []

function subcommandOf(words: readonly string[], fields: readonly Field[]): string | undefined {
  const found = [words.join('_'), words[0] ?? ''].find((name) => subcommands.has(name))
  if (found !== undefined || words.length > 0) {
    // `hard_reset`, `force_push`, `stash_drop`.
    return found ?? words.find((word) => subcommands.has(word))
  }
  const mode = fields.find(({ key }) => modeKeys.has(key))?.value
  return typeof mode === 'string' && subcommands.has(mode) ? mode : undefined
}

/**
 * Modes come before the operands: `stash drop`, `worktree remove`; or are options: `reset --hard`.
 */
function addMode(subcommand: string, mode: string, options: string[], operands: string[]): void {
  if (mode === subcommand) return
  const asOption = optionModes.get(subcommand)?.has(mode)
  if (asOption) options.push(`--${branchModes.get(mode) ?? mode}`)
  else operands.unshift(...mode.trim().split(/\s+/))
}

function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : value.trim().split(/\s+/)
  return listOf(value) ?? []
}
