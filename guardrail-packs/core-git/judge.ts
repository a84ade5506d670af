import type { SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { literal } from '../_shared/command-state.ts'
import { gitSettings, globalTable, isAlias, runByGit } from '../_shared/git-settings.ts'
import type { RuleId } from './rules.ts'
import { type GitCall, isShared, subcommands } from './subcommands.ts'

/** The first rule of core.git that a command matches. */
export function judge(command: SimpleCommand): Finding | undefined {
  const { executable, words } = command
  if (executable === 'git') {
    const rule = judgeGit(command, words, noConfig, 0)
    return rule && { ruleId: rule, matchedField: 'command.arguments' }
  }
  if (executable === 'bfg' || executable === 'gh' || executable === 'jj') {
    const rule = judgeOther(command)
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

/** Other tools that lose the same data. */
function judgeOther({ executable, words }: SimpleCommand): RuleId | undefined {
  if (words.some((word) => word.text === '--help')) return undefined
  const said = words.map((word) => word.text).join(' ')
  switch (executable) {
    case 'bfg':
      return /--(?:delete|strip|replace)-/.test(said) ? 'rewrite-history' : undefined
    case 'gh':
      return /^(?:repo|release) delete(?: |$)/.test(said) ? 'push-delete' : undefined
    default:
      return /^git push .*--deleted/.test(said) ? 'push-delete' : undefined
  }
}

const noConfig: ReadonlyMap<string, string> = new Map()
const deepestAlias = 4

function judgeGit(
  command: SimpleCommand,
  words: readonly Word[],
  outer: ReadonlyMap<string, string>,
  depth: number,
): RuleId | undefined {
  const config = new Map(outer)
  let executes = false
  for (const { key, value, by } of gitSettings({ ...command, words })) {
    if (by === 'config') continue
    config.set(key, value.text)
    if (runsValue(key, value.text, by === '--config-env' || value.dynamic)) executes = true
  }
  if (executes || takesPrograms(command, words)) return 'config-execution'
  const [name, ...rest] = readOptions(words, globalTable).operands
  if (name === undefined) return undefined
  const subcommand = name.text.toLowerCase()
  // For any subcommand, this option has one use.
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
  // It shows the manual only as the first argument.
  if (call.words[0]?.text === '--help') return undefined
  return subcommands.get(name)?.(call)
}

const knownPrograms =
  /^(|true|false|yes|no|on|off|0|1|:|cat|less|more|most|head|delta|bat|diff-so-fancy|ssh|vi|vim|nvim|nano|emacs|code|gpg|gpg2|difft|difftastic|ydiff|colordiff|tig)$/

/** `--exec-path=/tmp/x`, `init --template=/tmp/x`: git programs, or hooks, from another folder. */
function takesPrograms({ assignments }: SimpleCommand, words: readonly Word[]): boolean {
  if (assignments.has('GIT_EXEC_PATH')) return true
  const template = assignments.get('GIT_TEMPLATE_DIR')
  if (template !== undefined && isShared(template.text)) return true
  return words.some(({ text }) => {
    if (!text.startsWith('--')) return false
    if (/^--exec-path=./.test(text)) return true
    return text.startsWith('--template=') && isShared(text.slice('--template='.length))
  })
}

/** Whether a setting for one command makes git run an unusual program. */
function runsValue(key: string, value: string, unknown: boolean): boolean {
  if (key === 'core.hookspath') return !isUsualFolder(value)
  if (key === 'include.path') return true
  if (key === 'init.templatedir') return isShared(value)
  if (isAlias(key)) return unknown || value.trimStart().startsWith('!')
  const run = runByGit({ key, value: literal(value) })
  if (run === undefined) return false
  if (unknown || /[;&|`$<>()\n]/.test(value)) return !key.startsWith('credential.')
  const [program = ''] = value.trim().split(/\s+/)
  // `sequence.editor='sed -i …'` edits the list of a rebase.
  if (key.endsWith('editor') && program === 'sed') return false
  return !knownPrograms.test(program.slice(program.lastIndexOf('/') + 1))
}

/** Hooks that are disabled, or in a folder of the project. */
function isUsualFolder(path: string): boolean {
  return path === '/dev/null' || !/^(?:[/~$]|\.\.)/.test(path)
}
