import type { CommandReading, SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import { passesAll } from '../_shared/command-run.ts'
import { passesFunctions } from '../_shared/command-state.ts'

/** What a reading says of a function that runs `"$@"`. */
interface Forward {
  /** The first words of its calls. */
  readonly given: (Word | undefined)[]
  /** The words that were read as commands in its place. */
  readonly read: Set<Word | undefined>
  /** Its arguments become others before it runs them. */
  changes: boolean
}

const readings = new WeakMap<CommandReading, ReadonlyMap<string, Forward>>()

/**
 * Whether a `"$@"` stands in a function whose every call was read with what it is given: then these
 * readings are judged, and nothing is left to judge in the function itself.
 */
export function isReadAtCalls(command: SimpleCommand, reading: CommandReading): boolean {
  const name = functionOf(command)
  if (name === undefined) return false
  const forwards = readings.get(reading) ?? forwardsIn(reading)
  readings.set(reading, forwards)
  const forward = forwards.get(name)
  return (
    forward !== undefined &&
    !forward.changes &&
    forward.given.length > 0 &&
    forward.given.every((word) => word === undefined || forward.read.has(word))
  )
}

function forwardsIn({ commands }: CommandReading): ReadonlyMap<string, Forward> {
  const forwards = new Map<string, Forward>()
  for (const command of commands) {
    const name = passesAll.has(command.name?.text ?? '') ? functionOf(command) : undefined
    if (name !== undefined) forwards.set(name, { given: [], read: new Set(), changes: false })
  }
  for (const command of commands) {
    if (!passesFunctions(command.nesting))
      forwards.get(command.executable)?.given.push(command.words[0])
    forwards.get(command.nesting.at(-1) ?? '')?.read.add(command.name)
    const name = changesArguments(command) ? functionOf(command) : undefined
    const forward = name === undefined ? undefined : forwards.get(name)
    if (forward !== undefined) forward.changes = true
  }
  return forwards
}

/** The function in whose body a command stands. */
function functionOf({ nesting }: SimpleCommand): string | undefined {
  const before = 'function '
  return nesting.findLast((by) => by.startsWith(before))?.slice(before.length)
}

/** `shift`, `set -- a b`; but `set -e` and `set +x` change settings. */
function changesArguments({ executable, words }: SimpleCommand): boolean {
  if (executable !== 'set') return executable === 'shift'
  const { operands, dashesAfter } = readOptions(words, { short: 'o' })
  return dashesAfter !== undefined || operands.some(({ text }) => !/^\+[a-z]+$/.test(text))
}
