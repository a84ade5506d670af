import type { SimpleCommand, Word } from './command.ts'
import { noScope } from './command-constants.ts'
import { concurrently } from './command-embedded.ts'
import { gitRuns } from './command-git.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import { parseShell } from './command-scan.ts'
import { joined, literal, type Session, startPlace } from './command-state.ts'
import { expandWord } from './command-words.ts'
import { spend } from './work.ts'
import { sshSetting } from './wrapper-remote.ts'

/** Runners that no table describes; `undefined` for others. */
export function nestedInSpecial(
  command: SimpleCommand,
  session: Session,
): readonly Nested[] | undefined {
  switch (command.executable) {
    case 'find':
    case 'gfind':
    case 'bfs':
      return findActions(command.words)
    case 'fd':
    case 'fdfind':
      return fdActions(command.words)
    case 'xargs':
    case 'gxargs':
      return xargs(command)
    case 'parallel':
    case 'sem':
      return parallel(command)
    case 'env':
    case 'genv':
      return splitEnv(command.words, session)
    case 'ssh':
    case 'autossh':
      return ssh(command)
    case 'git':
      return gitRuns(command)
    case 'concurrently':
      return concurrently(command.words)
    default:
      return undefined
  }
}

/** Input lines that are tried as arguments; for the rest only the template is judged. */
const mostItems = 8

function findActions(words: readonly Word[]): readonly Nested[] {
  const nested: Nested[] = []
  for (let at = 0; at < words.length; at++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(words[at]?.text ?? '')) continue
    let end = at + 1
    while (end < words.length && words[end]?.text !== ';') {
      if (words[end]?.text === '+' && words[end - 1]?.text === '{}') break
      end++
    }
    spend(8 + end - at)
    nested.push({ argv: words.slice(at + 1, end), openEnded: true, ownStdin: true })
    at = end
  }
  return nested
}

function fdActions(words: readonly Word[]): readonly Nested[] {
  const at = words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word.text))
  if (at === -1) return []
  const end = words.findIndex((word, i) => i > at && word.text === ';')
  const argv = words.slice(at + 1, end === -1 ? undefined : end)
  return [{ argv, openEnded: true, ownStdin: true }]
}

function xargs(command: SimpleCommand): readonly Nested[] {
  const read = readOptions(command.words, {
    short: 'aEIdLnPsJRS',
    attached: 'eil',
    values: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
    flags: [
      'eof',
      'replace',
      'max-lines',
      'null',
      'no-run-if-empty',
      'interactive',
      'verbose',
      'exit',
    ],
    leading: true,
  })
  const template = read.operands
  if (template.length === 0) return []
  const replaced =
    read.value('-I', '-J', '-i', '--replace')?.text ??
    (read.has('-i', '--replace') ? '{}' : undefined)
  // Any placeholder is read as `{}`.
  const argv = replaced === undefined ? template : fill(template, [replaced], '{}')
  const nested: Nested[] = [{ argv, openEnded: true, ownStdin: true }]
  const input = read.has('-a', '--arg-file') ? undefined : knownInput(command.stdin)
  if (input === undefined) return nested
  const byLine = replaced !== undefined || read.has('-d', '-0', '--delimiter', '--null')
  const items = (byLine ? input.split(/[\n\0]/) : input.split(/\s+/)).filter((item) => item !== '')
  if (replaced === undefined) {
    const unquoted = byLine ? items : items.map((item) => item.replace(/^(['"])(.*)\1$/, '$2'))
    nested.push({ argv: [...template, ...unquoted.map(literal)], ownStdin: true })
  } else {
    for (const item of items.slice(0, mostItems))
      nested.push({ argv: fill(template, [replaced], item.trim()), ownStdin: true })
  }
  return nested
}

const parallelPlaces = ['{}', '{1}', '{2}', '{.}', '{/}', '{//}']

function parallel(command: SimpleCommand): readonly Nested[] {
  const separator = command.words.findIndex((word) => /^:::+\+?$/.test(word.text))
  const before = separator === -1 ? command.words : command.words.slice(0, separator)
  const read = readOptions(before, {
    short: 'jIaSNnLdPsCE',
    values:
      `jobs arg-file sshlogin sshloginfile colsep delay delimiter joblog results tmpdir timeout retries
      max-args max-procs max-replace-args max-chars load memfree memsuspend halt halt-on-error tagstring workdir wd
      nice env basefile return transferfile block recstart recend arg-sep semaphorename id seqreplace`.split(
        /\s+/,
      ),
    // Prefixes of other option names.
    flags: ['tag', 'semaphore'],
    leading: true,
  })
  if (read.has('--dry-run', '--dryrun')) return []
  const template = read.operands
  const items: Word[] = []
  if (separator !== -1) {
    let fromFile = false
    for (const word of command.words.slice(separator)) {
      if (/^:::+\+?$/.test(word.text)) fromFile = word.text.startsWith('::::')
      else if (!fromFile) items.push(word)
    }
  } else if (!read.has('-a', '--arg-file') && command.executable === 'parallel') {
    const input = knownInput(command.stdin)
    for (const line of input?.split('\n') ?? []) if (line !== '') items.push(literal(line))
  }
  if (template.length === 0) {
    if (items.length === 0) return [{ text: literal('{}'), openEnded: true }]
    return items.map((item) => ({ text: item, ownStdin: true }))
  }

  const own = read.value('-I')?.text
  const places = own === undefined ? parallelPlaces : [...parallelPlaces, own]
  const nested: Nested[] = [{ ...asRun(template), openEnded: true, ownStdin: true }]
  const marked = template.some((word) => places.some((place) => word.text.includes(place)))
  const text = isText(template)
  for (const item of items.slice(0, mostItems)) {
    // In a text template, an item is quoted for the shell.
    const quoted = `'${item.text.replaceAll("'", "'\\''")}'`
    for (const filling of text ? [item.text, quoted] : [item.text]) {
      const filled = marked ? fill(template, places, filling) : [...template, literal(filling)]
      nested.push({ ...asRun(text ? [joined(filled)] : filled), ownStdin: true })
    }
  }
  return nested
}

/** One word with several: the command line of a shell. */
function isText(words: readonly Word[]): boolean {
  return words.length === 1 && /\s/.test(words[0]?.text ?? '')
}

function asRun(words: readonly Word[]): Pick<Nested, 'text' | 'argv' | 'lenient'> {
  const [only] = words
  return only !== undefined && isText(words) ? { text: only, lenient: true } : { argv: words }
}

function fill(template: readonly Word[], places: readonly string[], item: string): readonly Word[] {
  spend(4 * template.length)
  return template.map((word) => {
    spend(word.text.length >> 2)
    let { text } = word
    for (const place of places) text = text.replaceAll(place, () => item)
    return text === word.text ? word : { ...word, text }
  })
}

/** `env -S 'command and words'`; `undefined` leaves env to the table. */
function splitEnv(words: readonly Word[], { interpreter }: Session): readonly Nested[] | undefined {
  const read = readOptions(words, {
    short: 'uCaS',
    values: ['unset', 'chdir', 'argv0', 'split-string'],
    leading: true,
  })
  const text = read.value('-S', '--split-string')
  if (text === undefined) return undefined
  const split: Word[] = []
  const place = startPlace(interpreter, noScope)
  const command = parseShell(`env ${text.text}`).commands[0]?.command
  if (command?.type === 'Command')
    for (const item of command.suffix) {
      if (item.type === 'Word') split.push(...expandWord(item, place))
      else if (item.type === 'Assignment') split.push(literal(item.text))
    }
  // The words after the text follow the words that it was split into, including its options.
  const at = words.findIndex((word) => /^-(\w*S|-s)/.test(word.text))
  const rest = [...split, ...words.slice(words[at + 1] === text ? at + 2 : at + 1)]
  return rest.length === 0 ? [] : [{ argv: [literal('env'), ...rest], passesOutput: true }]
}

const sshOptions = { short: 'BbcDEeFIiJLlmOopQRSWw', leading: true }
/** Without a command ssh starts a shell that reads its input, but not with one of these options. */
const noShell = ['-N', '-W', '-n', '-f', '-V', '-G', '-Q', '-O']
const autosshOptions = { short: `M${sshOptions.short}`, leading: true }

function ssh(command: SimpleCommand): readonly Nested[] {
  const options = command.executable === 'ssh' ? sshOptions : autosshOptions
  const before = readOptions(command.words, options)
  const [host, ...afterHost] = before.operands
  const settings = before.options.flatMap(({ name, value }) => sshRuns(name, value))
  if (host === undefined) return settings
  const behind = readOptions(afterHost, sshOptions)
  const appended = command.openEnded === 'appended'
  const { operands } = behind
  if (operands.length === 0) {
    const none = appended || before.has(...noShell) || behind.has(...noShell)
    return none ? settings : [...settings, { argv: [literal('sh')] }]
  }
  const text: Nested = {
    text: joined(operands),
    lenient: operands.length > 1,
    openEnded: appended,
  }
  return operands.length > 1 ? [...settings, text, { argv: operands }] : [...settings, text]
}

/** `-o ProxyCommand='…'`. */
function sshRuns(name: string, value: Word | undefined): readonly Nested[] {
  if (name !== '-o' || value === undefined || !sshSetting.test(value.text)) return []
  return [{ text: { ...value, text: value.text.replace(sshSetting, '') }, lenient: true }]
}
