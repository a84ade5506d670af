import type { ParsedScript } from 'unbash'
import type { CommandReading, SimpleCommand, Unreadable } from './command.ts'
import { createScope, noScope } from './command-constants.ts'
import { readAtCalls } from './command-forwards.ts'
import { runCommand } from './command-run.ts'
import { checkText, parseShell } from './command-scan.ts'
import { literal, type Place, type Spans, startPlace } from './command-state.ts'
import { interpreter } from './command-walk.ts'
import { OverCap, workingAlone } from './work.ts'

/** How a text was read: its syntax and its commands. */
export interface Trace {
  readonly spans: Spans
  script?: ParsedScript
  /** The context of the text, with its variables. */
  place?: Place
}

/** Reads a command line or script; `trace` is filled to show the reading. */
export function readText(text: string, trace?: Trace): CommandReading {
  return read((place) => {
    const script = parseShell(text)
    const here = { ...place, scope: createScope(script, text, noScope) }
    if (trace !== undefined) {
      trace.script = script
      trace.place = here
    }
    interpreter.walkScript(script, text, here)
    // Shells on Windows continue such a line, others end it.
    const continued = text.replaceAll('\\\r\n', '\\\n')
    if (continued === text) return
    const other = parseShell(continued)
    interpreter.walkScript(other, continued, {
      ...place,
      scope: createScope(other, continued, noScope),
    })
  }, trace?.spans)
}

/** Reads an argument vector: each element is a word. */
export function readArgv(argv: readonly string[]): CommandReading {
  return read((place) => {
    checkText(argv.join(' '))
    runCommand(argv.map(literal), place)
  })
}

function read(walk: (place: Place) => void, spans?: Spans): CommandReading {
  const place = startPlace(interpreter, noScope, spans)
  const { session } = place
  let unreadable: Unreadable | undefined
  try {
    workingAlone(() => walk(place))
    if (session.broken) unreadable = 'syntax'
  } catch (error) {
    // Otherwise the stack overflowed, or the parser failed: either way the text was not read.
    unreadable = error instanceof OverCap ? error.cap : 'too_deep'
  }
  let words: readonly string[] | undefined
  let atCalls: ReadonlySet<SimpleCommand> | undefined
  return {
    commands: session.commands,
    isReadAtCalls(command) {
      if (session.forwards === undefined) return false
      atCalls ??= readAtCalls(session)
      return atCalls.has(command)
    },
    unreadable,
    mentions(executables) {
      words ??= wordsOf(session.unparsed.join('\n'))
      return mentions(words, executables)
    },
  }
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/[^a-z0-9_.+-]+/)
}

function mentions(words: readonly string[], executables: ReadonlySet<string>): boolean {
  return words.some(
    (word) => executables.has(word) || executables.has(word.replace(/\.(?:exe|cmd)$/, '')),
  )
}
