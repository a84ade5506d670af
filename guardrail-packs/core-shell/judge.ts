import type { CommandReading, SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { normalisePath } from '../_shared/paths.ts'
import { connectsShell } from './reverse-shell.ts'
import {
  judged,
  powerCommands,
  powerTargets,
  powerVerbs,
  type RuleId,
  sessionEnds,
  sharedRoots,
  systemTrees,
} from './rules.ts'
import { interpreters, isForkBomb, runsUnseen } from './unseen.ts'

/** The first rule of core.shell that a command matches. */
export function judge(command: SimpleCommand, reading: CommandReading): Finding | undefined {
  if (isPlain(command)) return undefined
  for (const { target, operator } of command.redirects)
    if (operator.includes('>')) {
      if (isSysrq(target.text)) return found('sysrq', 'command.redirect')
      if (/^\/sys\/power\/(?:state|disk)$/.test(normalisePath(target.text)))
        return found('power-state', 'command.redirect')
    }
  if (connectsShell(command)) return found('reverse-shell', 'command.redirect')
  if (isForkBomb(command, reading)) return found('fork-bomb', 'command.executable')
  const unseen = runsUnseen(command)
  if (unseen !== undefined) return found(unseen, 'command.executable')

  const { executable } = command
  if (powerCommands.has(executable))
    return changesPower(command) ? found('power-state', 'command.executable') : undefined
  if (
    /^(mkfs(\.(?!(sh|py|js|ts|rb|pl|md|txt|c)$).+)?|mke2fs|mkdosfs|mkntfs|mkexfatfs|newfs(_.+)?)$/.test(
      executable,
    )
  )
    return onlyLooks(command) ? undefined : found('make-filesystem', 'command.executable')
  const ends = sessionEnds.get(executable)
  if (ends !== undefined && command.words.some((word) => ends.test(word.text)))
    return found('power-state', 'command.arguments')
  switch (executable) {
    case 'systemctl':
    case 'loginctl':
      return changesPowerBySystemd(command) ? found('power-state', 'command.arguments') : undefined
    case 'init':
    case 'telinit':
      return command.words.some((word) => /^[016sS]$/.test(word.text))
        ? found('power-state', 'command.arguments')
        : undefined
    case 'rtcwake':
      return /^(off|mem|disk|standby|freeze)$/.test(
        readOptions(command.words, { short: 'mst', values: ['mode'] }).value('-m', '--mode')
          ?.text ?? 'no',
      )
        ? found('power-state', 'command.arguments')
        : undefined
    case 'dbus-send':
    case 'busctl':
    case 'gdbus':
    case 'qdbus':
      return command.words.some((word) =>
        /(^|\.)(PowerOff|Reboot|Halt|Suspend|Hibernate)$/.test(word.text),
      )
        ? found('power-state', 'command.arguments')
        : undefined
    case 'kill':
      return killsEverything(command) ? found('kill-everything', 'command.arguments') : undefined
    case 'killall5':
      return found('kill-everything', 'command.executable')
    case 'pkill':
    case 'killall':
      return command.words.some((word) =>
        /^(?:\^?(systemd|init|launchd)\$?|\.\*?|)$/.test(word.text),
      )
        ? found('kill-everything', 'command.arguments')
        : undefined
    case 'xargs':
    case 'gxargs':
    case 'parallel':
      return changesPiped(command) ? found('system-permissions', 'command.arguments') : undefined
    case 'fuser':
      return killsUsersOfRoot(command) ? found('kill-everything', 'command.arguments') : undefined
    case 'find':
    case 'gfind':
    case 'bfs':
      return changesFound(command) ? found('system-permissions', 'command.arguments') : undefined
    case 'chmod':
    case 'chown':
    case 'chgrp':
    case 'setfacl':
    case 'chattr':
    case 'chcon':
      return changesSystemTree(command)
        ? found('system-permissions', 'command.arguments')
        : undefined
    case 'crontab': {
      const read = readOptions(command.words, { short: 'unT' })
      const empty =
        read.operands.some((word) => word.text === '/dev/null') ||
        (read.options.length === 0 && readsNothing(command))
      return read.has('-r') || empty ? found('crontab-remove', 'command.arguments') : undefined
    }
    case 'tee':
    case 'dd':
    case 'cp': {
      const written = executable === 'cp' ? command.words.slice(-1) : command.words
      return written.some((word) => isSysrq(word.text.replace(/^of=/, '')))
        ? found('sysrq', 'command.arguments')
        : undefined
    }
  }
  // `os.kill(pid, signal)`, but `kill signal, pid` in Perl and Ruby.
  const target = /^(perl|ruby)/.test(executable) ? secondIsAll : firstIsAll
  const everything = command.calls.some(
    (call) =>
      /(^|\.|posix_)kill$/.test(call.name) &&
      (target.test(call.arguments) ||
        (call.name === 'process.kill' && /^\s*-?1\s*$/.test(call.arguments))),
  )
  if (
    command.calls.some(
      (call) =>
        opens.test(call.name) &&
        call.strings.some((text) => /^[>+\s]*\/\S*proc\/sysrq-trigger$/.test(text)),
    )
  )
    return found('sysrq', 'command.arguments')
  if (everything) return found('kill-everything', 'command.arguments')
  return executable === 'osascript' && tellsPower(command)
    ? found('power-state', 'command.arguments')
    : undefined
}

/** `osascript -e 'tell app "System Events" to shut down'`. */
function tellsPower({ words }: SimpleCommand): boolean {
  return words.some(({ text }) =>
    /\bto\s+(?:shut down|restart|sleep)\b|«event aevt(?:rsdn|rrst)»/i.test(text),
  )
}

/** A quick check: most commands do not concern this pack. */
function isPlain(command: SimpleCommand): boolean {
  const { executable } = command
  return (
    executable !== '' &&
    command.calls.length === 0 &&
    !command.openEnded &&
    !judged.has(executable) &&
    !executable.startsWith('mk') &&
    !executable.startsWith('newfs') &&
    !command.nesting.some((by) => by.startsWith('function ')) &&
    !command.redirects.some(({ target }) => special.test(target.text)) &&
    (command.stdin.kind === 'inherited' || !interpreters.test(executable)) &&
    command.name?.fetched !== true &&
    !command.words.some((word) => word.produced.length > 0 || word.fetched)
  )
}

/** The path of a redirect that is not a plain one. */
const special = /sysrq|sys\/power|dev\/(?:tcp|udp)/

function found(ruleId: RuleId, matchedField: string): Finding {
  return { ruleId, matchedField }
}

function isSysrq(path: string): boolean {
  if (!path.includes('sysrq')) return false
  // In containers, the host's file is in another directory: `/host/proc/sysrq-trigger`.
  return /^\/(.*\/)?proc\/(sysrq-trigger|sys\/kernel\/sysrq)$/.test(normalisePath(path))
}

const firstIsAll = /^\s*(?:\(\s*)?-?1\s*,/
const secondIsAll = /(,|=>)\s*-?1\b/

const opens = /(^|\.)(open|write)\w*$/i

function readsNothing({ stdin }: SimpleCommand): boolean {
  return stdin.kind === 'file' && stdin.source.text === '/dev/null'
}

function asksHelp({ executable, words }: SimpleCommand): boolean {
  // With other arguments, `mkfs -V` is only verbose.
  const version = executable !== 'mkfs' || words.length === 1
  return words.some(({ text }) => /^--(help|version)$/.test(text) || (text === '-V' && version))
}

/** A dry run, or a query. For other programs `-n` is a name or a size. */
function onlyLooks(command: SimpleCommand): boolean {
  if (asksHelp(command)) return true
  const { executable, words } = command
  const type = readOptions(words, { short: 't', values: ['type'] }).value('-t', '--type')?.text
  if (executable === 'mkfs.xfs' || type === 'xfs') return words.some(({ text }) => text === '-N')
  const dry = /^(?:mke2fs|mkfs|mkfs\.ext[234]|mkfs\.ntfs|mkntfs)$/.test(executable)
  if (!dry || (type !== undefined && !/^(?:ext[234]|ntfs)$/.test(type))) return false
  return words.some(({ text }) => /^(?:-n|--no-action)$/.test(text))
}

function changesPower(command: SimpleCommand): boolean {
  if (asksHelp(command)) return false
  const read = readOptions(command.words, { flags: ['wtmp-only', 'show'] })
  if (read.has('--wtmp-only') || read.has('-w')) return command.executable === 'shutdown'
  // `-c` cancels a planned shutdown, `-k` only warns.
  return !(command.executable === 'shutdown' && read.has('-c', '-k', '--show'))
}

function changesPowerBySystemd(command: SimpleCommand): boolean {
  const { operands } = readOptions(command.words, {
    short: 'HMtpsno',
    values: [
      'host',
      'machine',
      'type',
      'property',
      'signal',
      'lines',
      'output',
      'root',
      'state',
      'job-mode',
      'what',
      'message',
      'when',
      'image',
    ],
  })
  const [verb, ...units] = operands
  const name = verb?.text.toLowerCase() ?? ''
  if (powerVerbs.has(name)) return !asksHelp(command)
  return (
    /^(start|restart|isolate|try-restart|reload-or-restart)$/.test(name) &&
    units.some((unit) => powerTargets.test(unit.text))
  )
}

/**
 * `kill -9 -1` and `kill 1`; but `kill -1 1234` sends signal 1, and signal 0 does nothing. `kill
 * -1` alone has no other target, unless xargs supplies some.
 */
function killsEverything(command: SimpleCommand): boolean {
  const words = command.words.map((word) => word.text)
  const [first] = words
  let targets = words
  if (first === undefined || /^(-[lL]|--list|--table)/.test(first)) return false
  let signal = ''
  if (/^(-s|-n|-q|--signal|--queue)$/.test(first)) {
    signal = words[1] ?? ''
    targets = words.slice(2)
  } else if (first.startsWith('-') && first !== '--') {
    signal = first.replace(/^(--signal=|-)/, '')
    targets = words.length === 1 && command.openEnded !== 'appended' ? words : words.slice(1)
  }
  if (signal === '0') return false
  return targets.some((target) => /^[+-]?0*1$/.test(target))
}

function isSystemPath({ text }: Word): boolean {
  const path = normalisePath(text)
  return text.startsWith('/') && (systemTrees.test(path) || sharedRoots.test(path))
}

const changers = /^(?:chmod|chown|chgrp|setfacl|chattr|chcon)$/

/** `find / -exec chmod 777 {} +`. */
function changesFound({ words }: SimpleCommand): boolean {
  const changes = words.some(
    (word, at) =>
      /^-(?:exec|execdir|ok|okdir)$/.test(word.text) &&
      words.slice(at + 1, at + 3).some((next) => changers.test(lastPart(next.text))),
  )
  return changes && searchesSystem(words)
}

/** `find / | xargs chmod 777`. */
function changesPiped({ words, stdin }: SimpleCommand): boolean {
  if (stdin.kind !== 'pipe' || !words.some((word) => changers.test(lastPart(word.text))))
    return false
  return stdin.producers.some(({ executable, words: given }) => {
    return executable === 'find' && searchesSystem(given)
  })
}

function searchesSystem(words: readonly Word[]): boolean {
  const end = words.findIndex(({ text }) => /^[-(!]/.test(text))
  return words.slice(0, end === -1 ? undefined : end).some(isSystemPath)
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** `fuser -k /`. */
function killsUsersOfRoot({ words }: SimpleCommand): boolean {
  const read = readOptions(words, { short: 'nN', values: ['namespace'] })
  return read.has('-k', '--kill') && read.operands.some((word) => normalisePath(word.text) === '/')
}

function changesSystemTree(command: SimpleCommand): boolean {
  const read = readOptions(command.words, {
    short: command.executable === 'setfacl' ? 'mxMX' : '',
    values: ['reference', 'from'],
    flags: [
      'recursive',
      'changes',
      'silent',
      'quiet',
      'verbose',
      'preserve-root',
      'no-preserve-root',
      'dereference',
      'no-dereference',
    ],
  })
  if (!read.has('-R', '--recursive')) return false
  return read.operands.some(isSystemPath)
}
