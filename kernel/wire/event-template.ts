import type { StreamEvent } from '../plugin/stream.ts'
import { withData } from './dialect-stream.ts'

/**
 * Members whose value does not affect processing, so that events that differ only there are handled
 * alike: text pieces, and values that change with each event.
 */
const HOLE =
  /"(content|reasoning|reasoning_content|reasoning_text|arguments|delta|obfuscation|sequence_number)" ?: ?("(?:[^"\\]|\\.)*"|\d+)/g

/** A complete JSON string or integer: no control characters, only valid escapes. */
const VALUE =
  /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?![\d.eE])/y

/** Longest event to match; beyond that, regular expressions leave their fast path. */
const LONGEST = 32_768

/** After this many useless templates, only some events are learned. */
const PATIENCE = 8

/**
 * Remembers the last ordinary event and its result. In most streams nearly each event equals the
 * previous one except for its text; such an event is checked and rewritten without parsing.
 */
export interface EventTemplate {
  /** Returns the result if the event matches the last template. */
  apply(event: StreamEvent): StreamEvent | undefined
  /** Learns an event that changed no state, and its result. */
  learn(event: StreamEvent, became: StreamEvent): void
  /** Forgets the template. */
  forget(): void
}

/** `nextNumber`: the `sequence_number` for an event without one. */
export function createEventTemplate(nextNumber?: () => number): EventTemplate {
  let name: string | undefined
  /** The text around the holes of the event and of its result; one more than holes. */
  let before: readonly string[] = []
  let after: readonly string[] = []
  /** For each hole of the result, the hole that fills it; undefined if nothing changes. */
  let fillers: readonly number[] | undefined
  let wasted = 0

  return {
    apply(event) {
      const { data } = event
      if (before.length === 0 || event.event !== name || data.length > LONGEST) return undefined
      const values: string[] = []
      let at = 0
      for (let i = 0; i < before.length - 1; i++) {
        const literal = before[i] as string
        if (!data.startsWith(literal, at)) return undefined
        const from = at + literal.length
        VALUE.lastIndex = from
        if (!VALUE.test(data)) return undefined
        at = VALUE.lastIndex
        if (fillers !== undefined) values.push(data.slice(from, at))
      }
      const last = before[before.length - 1] as string
      if (data.length !== at + last.length || !data.endsWith(last)) return undefined
      wasted = 0
      if (fillers === undefined) return event
      let out = after[0] as string
      for (let i = 0; i < fillers.length; i++) {
        const filler = fillers[i] as number
        out += (filler === NUMBER ? nextNumber?.() : values[filler]) + (after[i + 1] as string)
      }
      return withData(event, out)
    },

    learn(event, became) {
      if (event.data.length > LONGEST) return
      wasted++
      if (wasted > PATIENCE && wasted % PATIENCE !== 0) return
      const from = dissect(event.data)
      const to = became === event ? from : dissect(became.data)
      const sources = fill(from.keys, to.keys)
      name = event.event
      before = from.keys.length === 0 || sources === undefined ? [] : from.literals
      after = to.literals
      fillers = became === event ? undefined : sources
    },

    forget() {
      before = []
    },
  }
}

/** Instead of a hole: a number that is counted here. */
const NUMBER = -1

/** Which hole of the event fills each hole of the result; undefined if not certain. */
function fill(from: readonly string[], to: readonly string[]): number[] | undefined {
  if (to.length === from.length) {
    return to.every((key, i) => key === from[i]) ? to.map((_, i) => i) : undefined
  }
  if (to[0] === 'sequence_number' && !from.includes('sequence_number')) {
    return to.length === from.length + 1 ? to.map((_, i) => i - 1) : undefined
  }
  // One more `reasoning`: a copy of the text under another name.
  const copy = to.indexOf('reasoning')
  const originals = from.filter((k) => k === 'reasoning_content' || k === 'reasoning_text')
  const certain = originals.length === 1 && !from.includes('reasoning')
  if (!certain || copy === -1 || to.length !== from.length + 1) return undefined
  const original = from.indexOf(originals[0] as string)
  return to.map((_, i) => (i === copy ? original : i > copy ? i - 1 : i))
}

function dissect(data: string): { literals: string[]; keys: string[] } {
  const literals: string[] = []
  const keys: string[] = []
  let at = 0
  for (const match of data.matchAll(HOLE)) {
    const end = match.index + match[0].length
    literals.push(data.slice(at, end - (match[2] as string).length))
    keys.push(match[1] as string)
    at = end
  }
  literals.push(data.slice(at))
  return { literals, keys }
}
