import { type ParsedScript, parse } from 'unbash'
import type { CommandReading, SimpleCommand, Unreadable } from './command.ts'
import { createScope, noScope } from './command-constants.ts'
import { readAtCalls } from './command-forwards.ts'
import { runCommand } from './command-run.ts'
import { giveUp, limits, literal, type Place, type Spans, startPlace } from './command-state.ts'
import { walkScript } from './command-walk.ts'

/** How a text was read: its syntax, and what became of it. */
export interface Trace {
  readonly spans: Spans
  script?: ParsedScript
  /** Where the text stands, its variables included. */
  place?: Place
}

/** Reads a command line or script; `trace` is filled for whoever wants to show the reading. */
export function readText(text: string, trace?: Trace): CommandReading {
  return read(
    text,
    (place) => {
      const script = parse(text)
      const here = { ...place, scope: createScope(script, text, noScope) }
      if (trace !== undefined) {
        trace.script = script
        trace.place = here
      }
      walkScript(script, text, here)
      // Shells on Windows continue such a line, others end it.
      const continued = text.replaceAll('\\\r\n', '\\\n')
      if (continued === text) return
      const other = parse(continued)
      walkScript(other, continued, { ...place, scope: createScope(other, continued, noScope) })
    },
    trace?.spans,
  )
}

/** Reads an argument vector: its words are words, whatever they hold. */
export function readArgv(argv: readonly string[]): CommandReading {
  return read(argv.join(' '), (place) => {
    runCommand(argv.map(literal), place)
  })
}

function read(text: string, walk: (place: Place) => void, spans?: Spans): CommandReading {
  const place = startPlace(noScope, spans)
  const { session } = place
  session.unreadable = refusal(text)
  if (session.unreadable === undefined) {
    try {
      walk(place)
    } catch {
      // The stack ran out, or the parser met what it cannot take: either way it was not read.
      giveUp(session, 'too_deep')
    }
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
    unreadable: session.unreadable,
    mentions(executables) {
      words ??= wordsOf(session.unparsed.join('\n'))
      return mentions(words, executables)
    },
  }
}

function refusal(text: string): Unreadable | undefined {
  if (text.length > limits.length) return 'too_long'
  if (text.length * 3 > limits.length && Buffer.byteLength(text) > limits.length) return 'too_long'
  if (text.includes('\0')) return 'nul'
  return opensTooMuch(text) ? 'too_deep' : undefined
}

/** Parentheses that nobody closes are slow to parse; far more of them than may be nested are refused. */
function opensTooMuch(text: string): boolean {
  let seen = 0
  for (let at = text.indexOf('('); at !== -1 && seen <= 2 * limits.nesting; seen++)
    at = text.indexOf('(', at + 1)
  if (seen <= 2 * limits.nesting) return false
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === 40) {
      if (++open > 2 * limits.nesting) return true
    } else if (c === 41 && open > 0) open--
  }
  return false
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/[^a-z0-9_.+-]+/)
}

function mentions(words: readonly string[], executables: ReadonlySet<string>): boolean {
  return words.some(
    (word) => executables.has(word) || executables.has(word.replace(/\.(?:exe|cmd)$/, '')),
  )
}
