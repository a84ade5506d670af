import type { Redirect, SimpleCommand, Stdin, Word } from './command.ts'
import { readOptions } from './command-options.ts'
import { inherited, joined, passesFunctions, type Session } from './command-state.ts'

/** A command of a function that uses the function's arguments: `run() { sudo "$@"; }`. */
export interface Forward {
  readonly words: readonly Word[]
  /** The command as written in the function. */
  readonly command: SimpleCommand
  /** The calls for which it was read with their arguments. */
  readonly calls: Set<SimpleCommand>
}

const passesAll = /^\$\{?[@*]\}?$/
const passesOne = /^\$\{?([1-9])\}?$/

const mostForwards = 4

/** Tracks a command of a function that uses its arguments. */
export function keepForward(
  session: Session,
  name: string,
  words: readonly Word[],
  command: SimpleCommand,
): void {
  const all = takesAll(words)
  if (!all && !words.some((word) => passesOne.test(word.text))) return
  session.forwards ??= new Map()
  const known = session.forwards.get(name) ?? []
  session.forwards.set(name, known)
  if (known.filter((each) => takesAll(each.words) === all).length < mostForwards)
    known.push({ words, command, calls: new Set() })
}

export function takesAll(words: readonly Word[]): boolean {
  return words.some((word) => passesAll.test(word.text))
}

/** The command with the function's arguments. */
export function forwarded(words: readonly Word[], given: readonly Word[]): readonly Word[] {
  return words.flatMap((word) => {
    // `"$*"` is all arguments in one word.
    if (word.quoted && /^\$\{?\*\}?$/.test(word.text))
      return given.length === 0 ? [] : [joined(given)]
    const one = passesOne.exec(word.text)
    if (one === null && !passesAll.test(word.text)) return [word]
    const taken = one === null ? given : given.slice(Number(one[1]) - 1).slice(0, 1)
    return word.quoted ? taken : taken.flatMap(fields)
  })
}

/** The fields of an unquoted word. */
function fields(word: Word): readonly Word[] {
  if (word.dynamic || !/\s/.test(word.text)) return [word]
  const texts = word.text.split(/\s+/).filter((text) => text !== '')
  return texts.map((text) => ({ ...word, text, quoted: false }))
}

/** Input, output and environment of a forwarded command at a call. */
export function surroundings(
  { command }: Forward,
  call: SimpleCommand,
): {
  readonly stdin: Stdin
  readonly redirects: readonly Redirect[]
  readonly assignments: ReadonlyMap<string, Word>
} {
  return {
    stdin: command.stdin === inherited ? call.stdin : command.stdin,
    redirects: command.redirects,
    assignments: new Map([...call.assignments, ...command.assignments]),
  }
}

/**
 * Commands of functions that were read at each call with its arguments: only these readings are
 * judged, not the function body.
 */
export function readAtCalls({ forwards, commands }: Session): ReadonlySet<SimpleCommand> {
  const read = new Set<SimpleCommand>()
  if (forwards === undefined) return read
  const calls = new Map<string, SimpleCommand[]>([...forwards.keys()].map((name) => [name, []]))
  const changed = new Set<string>()
  for (const command of commands) {
    if (!passesFunctions(command.nesting)) calls.get(command.executable)?.push(command)
    const name = changesArguments(command) ? functionOf(command) : undefined
    if (name !== undefined) changed.add(name)
  }
  for (const [name, kept] of forwards) {
    const all = calls.get(name) ?? []
    if (all.length === 0 || changed.has(name)) continue
    for (const forward of kept)
      if (!forward.command.openEnded && all.every((call) => forward.calls.has(call)))
        read.add(forward.command)
  }
  return read
}

/** The function whose body contains a command. */
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
