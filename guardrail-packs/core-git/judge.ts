import type { SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { literal } from '../_shared/command-state.ts'
import type { RuleId } from './rules.ts'
import { type GitCall, subcommands } from './subcommands.ts'

/** The first rule of core.git that a command breaks. */
export function judge(command: SimpleCommand): Finding | undefined {
  const { executable, words } = command
  if (executable === 'git') {
    const rule = judgeGit(command, words, noConfig, 0)
    return rule && { ruleId: rule, matchedField: 'command.arguments' }
  }
  if (!executable.startsWith('git-')) return undefined
  const rule = judgeSubcommand(executable.slice(4), {
    words,
    config: noConfig,
    openEnded: command.openEnded === 'appended',
    stdin: command.stdin,
  })
  return rule && { ruleId: rule, matchedField: 'command.executable' }
}

const noConfig: ReadonlyMap<string, string> = new Map()
const deepestAlias = 4

function judgeGit(
  command: SimpleCommand,
  words: readonly Word[],
  outer: ReadonlyMap<string, string>,
  depth: number,
): RuleId | undefined {
  const read = readOptions(words, {
    short: 'cC',
    values: [
      'git-dir',
      'work-tree',
      'namespace',
      'super-prefix',
      'config-env',
      'attr-source',
      'list-cmds',
    ],
    leading: true,
  })
  const config = new Map(outer)
  let executes = false
  for (const option of read.options) {
    if (option.value === undefined || !(option.name === '-c' || option.name === '--config-env'))
      continue
    const equals = option.value.text.indexOf('=')
    const key = option.value.text.slice(0, equals === -1 ? undefined : equals).toLowerCase()
    const value = equals === -1 ? 'true' : option.value.text.slice(equals + 1)
    config.set(key, value)
    if (runsValue(key, value, option.name === '--config-env' || option.value.dynamic))
      executes = true
  }
  if (executes) return 'config-execution'
  const [name, ...rest] = read.operands
  if (name === undefined) return undefined
  const subcommand = name.text.toLowerCase()
  // Whatever the subcommand turns out to be, there is one use of this option.
  if (name.dynamic && rest.some((word) => word.text === '--hard')) return 'reset-discard'
  const alias = config.get(`alias.${subcommand}`)
  if (alias !== undefined && depth < deepestAlias) {
    const meant = [...alias.trim().split(/\s+/).map(literal), ...rest]
    return judgeGit(command, meant, config, depth + 1)
  }
  return judgeSubcommand(subcommand, {
    words: rest,
    config,
    openEnded: command.openEnded === 'appended',
    stdin: command.stdin,
  })
}

function judgeSubcommand(name: string, call: GitCall): RuleId | undefined {
  // Only as the first argument does it show the manual.
  if (call.words[0]?.text === '--help') return undefined
  return subcommands.get(name)?.(call)
}

const programKeys =
  /^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|pager\..+|sequence\.editor|diff\.external|diff\..+\.(command|textconv)|(diff|merge)tool\..+\.cmd|gpg\.program|interactive\.difffilter|uploadpack\.packobjectshook)$/
const knownPrograms =
  /^(|true|false|yes|no|on|off|0|1|:|cat|less|more|most|head|delta|bat|diff-so-fancy|ssh|vi|vim|nvim|nano|emacs|code|gpg|gpg2|difft|difftastic|ydiff|colordiff|tig)$/

/** Whether a `-c` setting makes git run a program that is not a usual one. */
function runsValue(key: string, value: string, unknown: boolean): boolean {
  if (key.startsWith('alias.')) return unknown || value.trimStart().startsWith('!')
  if (!programKeys.test(key)) return false
  if (unknown || /[;&|`$<>()\n]/.test(value)) return true
  const [program = ''] = value.trim().split(/\s+/)
  // `sequence.editor='sed -i …'` writes the list of a rebase.
  if (key.endsWith('editor') && program === 'sed') return false
  return !knownPrograms.test(program.slice(program.lastIndexOf('/') + 1))
}
