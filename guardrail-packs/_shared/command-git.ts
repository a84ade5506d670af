import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { joined, literal } from './command-state.ts'
import { gitSettings, globalTable, isAlias, runByGit } from './git-settings.ts'

/** Options whose value git runs, by subcommand. */
const runningOptions: readonly (readonly [subcommand: RegExp, option: RegExp])[] = [
  [/^rebase$/, /^(?:-x|--exec)$/],
  [/^filter-branch$/, /^--(?:tree|index|env|msg|commit|parent|tag-name|subdirectory)-filter$/],
  [/^(?:fetch|pull|clone|ls-remote|fetch-pack|archive)$/, /^--(?:upload-pack|exec)$/],
  [/^(?:clone|ls-remote)$/, /^-u$/],
  [/^(?:push|send-pack)$/, /^--(?:receive-pack|exec)$/],
  [/^difftool$/, /^(?:-x|--extcmd)$/],
  [/^grep$/, /^(?:-O|--open-files-in-pager)$/],
  [/^daemon$/, /^--access-hook$/],
  [/^send-email$/, /^--(?:to-cmd|cc-cmd|header-cmd|sendmail-cmd|smtp-server)$/],
  [/^instaweb$/, /^(?:--httpd|--browser|-d|-b)$/],
  [/^shell$/, /^-c$/],
]

/** The program in a transport URL: `ext::sh -c …`. */
const TRANSPORT = 'ext::'

/**
 * Commands that git runs: settings such as pagers, drivers and aliases, options, `bisect run`,
 * `submodule foreach`, transports.
 */
export function gitRuns(command: SimpleCommand): readonly Nested[] {
  const nested: Nested[] = []
  for (const setting of gitSettings(command)) {
    const text = runByGit(setting)
    if (text !== undefined) nested.push({ text, lenient: true })
    // An alias is judged where it is defined, like an alias of the shell.
    else if (isAlias(setting.key) && setting.by === 'config')
      nested.push({ argv: ['git', ...setting.value.text.trim().split(/\s+/)].map(literal) })
  }
  const [name, ...words] = readOptions(command.words, globalTable).operands
  const subcommand = name?.text ?? ''
  for (const [at, word] of words.entries()) {
    const ext = word.text.startsWith(TRANSPORT) ? word.text.slice(TRANSPORT.length) : undefined
    if (ext !== undefined)
      nested.push({
        argv: ext.split(/(?<!%) +/).map((each) => literal(each.replaceAll('% ', ' '))),
      })
    const value = runValue(subcommand, word, words[at + 1])
    if (value !== undefined) nested.push({ text: value, lenient: true })
    if (subcommand === 'bisect' && word.text === 'run' && at === 0)
      nested.push({ argv: words.slice(1) })
    if (subcommand === 'submodule' && word.text === 'foreach') {
      const { operands } = readOptions(words.slice(at + 1), { leading: true })
      if (operands.length > 0) nested.push({ text: joined(operands) })
    }
  }
  if (subcommand === 'for-each-repo') {
    const { operands } = readOptions(words, { values: ['config'], leading: true })
    nested.push({ argv: [literal('git'), ...operands] })
  }
  return nested
}

function runValue(subcommand: string, word: Word, next: Word | undefined): Word | undefined {
  if (!word.text.startsWith('-')) return undefined
  for (const [names, option] of runningOptions) {
    if (!names.test(subcommand)) continue
    if (option.test(word.text)) return subcommand === 'grep' ? undefined : next
    const equals = word.text.indexOf('=')
    const name = word.text.startsWith('--') ? word.text.slice(0, equals) : word.text.slice(0, 2)
    if (!option.test(name)) continue
    return { ...word, text: word.text.slice(name.startsWith('--') ? equals + 1 : 2) }
  }
  return undefined
}
