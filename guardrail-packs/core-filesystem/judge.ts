import type { ProgramCall, SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { writtenByCalls, writtenByScript, writtenPaths } from '../_shared/command-writes.ts'
import { isDataDevice, isProtected } from '../_shared/paths.ts'
import {
  deletingTools,
  destroyingOptions,
  destroyingSubcommands,
  fileRemovers,
  findValues,
  partitioners,
  type RuleId,
  recursiveRemovers,
  shredders,
  treeRemovers,
  treeWalkers,
  volumeRemovers,
} from './rules.ts'

/** The first rule of core.filesystem that a command matches. */
export function judge(command: SimpleCommand): Finding | undefined {
  const { executable, redirects } = command
  for (const { operator, target } of redirects) {
    if (!operator.includes('>')) continue
    if (isDataDevice(target.text)) return found('write-device', 'command.redirect')
    if (operator !== '>>' && operator !== '&>>' && isProtected(target.text))
      return found('overwrite-protected', 'command.redirect')
  }
  if (executable === '') return undefined
  const rule = judgeArguments(command) ?? judgeTargets(writtenBy(command))
  if (rule !== undefined) return found(rule, 'command.arguments')
  if (command.calls.length > 0) {
    const written = judgeTargets(writtenByCalls(command.calls))
    if (written !== undefined) return found(written, 'command.arguments')
  }
  return command.calls.length > 0 && removesTree(command.calls)
    ? found('program-delete', 'command.arguments')
    : undefined
}

function writtenBy(command: SimpleCommand): readonly string[] {
  const written = writtenPaths(command)
  return written.length === 0 ? writtenByScript(command) : written.map((word) => word.text)
}

function found(ruleId: RuleId, matchedField: string): Finding {
  return { ruleId, matchedField }
}

function judgeArguments(command: SimpleCommand): RuleId | undefined {
  const { executable, words } = command
  switch (executable) {
    case 'rm':
    case 'grm':
      return judgeRm(command)
    case 'unlink':
      return takesUnknownFiles(command) ? 'bulk-delete' : undefined
    case 'rmdir':
    case 'rd':
    case 'del':
    case 'erase':
    case 'ri':
    case 'remove-item':
      if (words.some((word) => /^(?:\/s|-r(?:e(?:c\w*)?)?)$/i.test(word.text)))
        return 'rm-recursive'
      return takesUnknownFiles(command) ? 'bulk-delete' : undefined
    case 'format':
      return words.some((word) => /^[a-z]:$/i.test(word.text)) ? 'destroy-volume' : undefined
    case 'rimraf':
    case 'del-cli':
    case 'trash-empty':
    case 'trash-rm':
      return words.some((word) => /^(?:--help|--version|--dry-run|-d)$/.test(word.text))
        ? undefined
        : 'rm-recursive'
    case 'find':
    case 'gfind':
    case 'bfs':
      return judgeFind(words)
    case 'truncate':
    case 'gtruncate': {
      const read = readOptions(words, { short: 'sr', values: ['size', 'reference'] })
      const size = read.value('-s', '--size')?.text ?? ''
      return /^[<%/]?0+[a-z]*$/i.test(size) ? 'destroy-content' : undefined
    }
    case 'dd':
    case 'gdd':
    case 'dcfldd':
    case 'dc3dd':
      return judgeTargets(words.flatMap((word) => after(word, 'of=')))
    case 'tee':
    case 'gtee':
    case 'sponge': {
      const read = readOptions(words, { flags: ['append'] })
      const targets = read.operands.map((word) => word.text)
      if (read.has('-a', '--append')) return targets.some(isDataDevice) ? 'write-device' : undefined
      return judgeTargets(targets)
    }
    case 'mv': {
      const { operands } = readOptions(words, { short: 'tS', values: ['target-directory'] })
      return operands.length > 1 && operands.at(-1)?.text === '/dev/null'
        ? 'destroy-content'
        : undefined
    }
    case 'fallocate':
      return words.some((word) =>
        /^(?:-\w*[pcz]|--(?:punch-hole|collapse-range|zero-range))$/.test(word.text),
      )
        ? 'destroy-content'
        : undefined
    case 'cp': {
      const { operands } = readOptions(words, { short: 'tSgmo', values: ['target-directory'] })
      return operands[0]?.text === '/dev/null' && operands.length > 1
        ? 'destroy-content'
        : undefined
    }
    case 'rsync':
      return judgeRsync(words)
    default:
      return deletesByTool(command) ? 'rm-recursive' : judgeVolumes(command)
  }
}

const rmFlags = [
  'recursive',
  'force',
  'interactive',
  'one-file-system',
  'no-preserve-root',
  'preserve-root',
  'dir',
  'verbose',
  'help',
  'version',
]

function judgeRm(command: SimpleCommand): RuleId | undefined {
  const read = readOptions(command.words, { flags: rmFlags })
  if (read.has('-r', '-R', '--recursive') || read.dynamic)
    return read.has('--help', '--version') ? undefined : 'rm-recursive'
  const searched = read.operands.some((word) =>
    word.produced.some((each) => searches.has(each.executable)),
  )
  return searched || takesUnknownFiles(command) ? 'bulk-delete' : undefined
}

/** `rm $(find …)` is `find … -exec rm`. */
const searches: ReadonlySet<string> = new Set(['find', 'gfind', 'bfs', 'fd', 'fdfind', 'locate'])

/** Whether find, xargs or parallel supplies the files. */
function takesUnknownFiles(command: SimpleCommand): boolean {
  if (command.openEnded === 'within') return command.words.some(isPlace)
  return command.openEnded === 'appended'
}

function isPlace(word: Word): boolean {
  return word.dynamic || word.text.includes('{}')
}

function judgeFind(words: readonly Word[]): RuleId | undefined {
  const own: Word[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    if (!/^-(exec|execdir|ok|okdir)$/.test(word.text)) {
      own.push(word)
      continue
    }
    while (at < words.length && words[at]?.text !== ';') {
      if (words[at]?.text === '+' && words[at - 1]?.text === '{}') break
      at++
    }
  }
  // `find -- dir`: paths and actions follow.
  if (own[0]?.text === '--') own.shift()
  const read = readOptions(own, { singleDash: true, values: findValues })
  if (read.has('-delete')) return 'bulk-delete'
  const written = read.options.filter(({ name }) => /^-f(print[0f]?|ls)$/.test(name))
  return judgeTargets(written.map(({ value }) => value?.text ?? ''))
}

function judgeRsync(words: readonly Word[]): RuleId | undefined {
  const read = readOptions(words, {
    short: 'eBfMT',
    values: [
      'rsh',
      'exclude',
      'include',
      'exclude-from',
      'include-from',
      'files-from',
      'filter',
      'rsync-path',
      'backup-dir',
      'suffix',
      'temp-dir',
      'compare-dest',
      'copy-dest',
      'link-dest',
      'log-file',
      'password-file',
      'max-delete',
      'partial-dir',
      'chmod',
      'chown',
      'out-format',
      'port',
      'bwlimit',
      'timeout',
    ],
    // Prefixes of other option names.
    flags: ['backup', 'partial'],
  })
  if (read.has('-n', '--dry-run', '--help', '--version')) return undefined
  return read.options.some((option) => /^--del(ete(-[\w-]+)?)?$/.test(option.name))
    ? 'mirror-delete'
    : undefined
}

const volumeTools: ReadonlySet<string> = new Set([
  ...shredders,
  ...volumeRemovers,
  ...partitioners.keys(),
  ...destroyingSubcommands.keys(),
  ...destroyingOptions.keys(),
])

/** `cmake -E rm -r`, `rclone purge`, `tar --remove-files`. */
function deletesByTool({ executable, words }: SimpleCommand): boolean {
  const deletes = deletingTools.get(executable)
  if (deletes === undefined) return false
  const said = words.map((word) => word.text).join(' ')
  const isDry = executable === 'rclone' && words.some(({ text }) => text === '-n')
  return deletes.test(said) && !isDry && !/(?:^|\s)(?:--dry-run|--help)(?:\s|$)/.test(said)
}

function judgeVolumes(command: SimpleCommand): RuleId | undefined {
  const { executable, words } = command
  if (!volumeTools.has(executable)) return undefined
  if (words.some((word) => /^(--help|--version)$/.test(word.text))) return undefined
  if (shredders.has(executable)) return 'destroy-content'
  if (volumeRemovers.has(executable))
    return words.some((word) => /^(-t|--test)$/.test(word.text)) ? undefined : 'destroy-volume'
  const looks = partitioners.get(executable)
  if (looks !== undefined) {
    const read = readOptions(words, { short: 'o' })
    const onDevice =
      command.openEnded === 'appended' ||
      words.some((word) => isDataDevice(word.text) || (word.dynamic && !word.text.startsWith('-')))
    if (!onDevice || read.has(...looks)) return undefined
    return executable === 'parted' && onlyPrints(read.operands) ? undefined : 'destroy-volume'
  }
  const destroys = destroyingSubcommands.get(executable)
  if (destroys !== undefined) {
    const read = readOptions(words, { leading: true })
    const subcommand = read.operands
      .map((word) => word.text)
      .join(' ')
      .toLowerCase()
    const dry =
      /\s(-n|-nv|-vn|-nr|-rn|-nvr|--dryrun)(\s|$)/.test(subcommand) && executable === 'zfs'
    return destroys.test(subcommand) && !dry ? 'destroy-volume' : undefined
  }
  const options = destroyingOptions.get(executable)
  return options !== undefined && words.some((word) => options.test(word.text))
    ? 'destroy-volume'
    : undefined
}

/** `parted /dev/sda unit MiB print free`; verbs may be abbreviated. */
function onlyPrints(operands: readonly Word[]): boolean {
  const verbs = operands.slice(1).map((word) => word.text)
  return (
    verbs.some((verb) => /^p(r|ri|rin|rint)?$/.test(verb)) &&
    !verbs.some((verb) => /^(mk\w+|rm|resize\w*|set|name|toggle|rescue|disk_\w+)$/.test(verb))
  )
}

function judgeTargets(targets: readonly string[]): RuleId | undefined {
  if (targets.some(isDataDevice)) return 'write-device'
  return targets.some(isProtected) ? 'overwrite-protected' : undefined
}

function after(word: Word, prefix: string): readonly string[] {
  return word.text.startsWith(prefix) ? [word.text.slice(prefix.length)] : []
}

function removesTree(calls: readonly ProgramCall[]): boolean {
  return (
    calls.some(
      (call) =>
        treeRemovers.test(call.name) ||
        (recursiveRemovers.test(call.name) &&
          /recursive['"]?\s*(:|=>?)\s*(true|1|!0|T\b)|-force\b|,\s*['"]s['"]/i.test(
            call.arguments,
          )) ||
        (call.name === 'require' && call.strings.includes('rimraf')),
    ) ||
    (calls.some((call) => treeWalkers.test(call.name)) &&
      calls.some((call) => removesNamed(call) || call.strings.some(namesRemover)))
  )
}

/** `array_map('unlink', glob('*'))` */
function namesRemover(text: string): boolean {
  return /^(?:unlink|rmdir)$/.test(text)
}

/** `os.remove(path)`, `path.delete`; but `os.remove('a.lock')` removes the one file. */
function removesNamed(call: ProgramCall): boolean {
  if (/\.delete$/.test(call.name) && call.arguments === '') return true
  return fileRemovers.test(call.name) && !/^\s*(['"`])[^'"`]*\1\s*$/.test(call.arguments)
}
