import type { JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import { prune } from '../_shared/prune.ts'
import { findSecrets } from '../_shared/secret-text.ts'

/** Shorter streams are not worth a closer look, longer events are no pieces of text. */
const FEWEST_EVENTS = 8
const LONGEST_EVENT = 1_024
/** So many events may differ from the one before them in more than a piece of text. */
const MOST_EXCEPTIONS = 8

/** As in `otp=1234`. */
const SHORTEST_SECRET = 8

/**
 * What a usual stream does not have in it: bulky data, escapes that could hide a name, and a second
 * choice or tool call that the first one would be mixed with.
 */
const DOUBTFUL = /data:|\\[u/]|"index": ?[1-9]|sequence_number/

const PIECE = /"(?:content|reasoning|reasoning_content|reasoning_text|arguments|text)": ?"/g
/** The rest of a JSON string, complete and without other escapes than the short ones. */
const REST_OF_TEXT = /(?:[ !#-[\]-\uffff]|\\["\\bfnrt])*"/y

/**
 * The events of a usual stream as a JSON array, without taking them apart: nearly all of them equal
 * the one before but for a piece of text, and none holds anything that has to go. Undefined when
 * that is not certain.
 */
export function plainStream(events: readonly StreamEvent[]): string | undefined {
  if (events.length < FEWEST_EVENTS) return undefined
  let exceptions = 0
  let head = ''
  let tail = ''
  /** The pieces, as JSON writes them, those that can hold a whole secret once more, and all else. */
  let text = ''
  let longer = ''
  let others = ''
  const add = (piece: string) => {
    text += piece
    if (piece.length >= SHORTEST_SECRET) longer += `${piece}\\n`
  }
  let json = '['
  for (const { data } of events) {
    if (data.length > LONGEST_EVENT) return undefined
    if (json !== '[') json += ','
    const end = head !== '' && data.startsWith(head) ? endOfText(data, head.length) : -1
    if (end !== -1 && data.length === end + tail.length && data.endsWith(tail)) {
      add(data.slice(head.length, end - 1))
      json += data
      continue
    }
    exceptions += 1
    if (exceptions > MOST_EXCEPTIONS) return undefined
    others += `${data}\n`
    head = ''
    const value = parsed(data)
    if (value === undefined) {
      const quoted = JSON.stringify(data)
      json += quoted
      add(quoted.slice(1, -1))
      continue
    }
    // A member that is there twice has only its last value in what was parsed.
    if (!isClean(value) || findSecrets(data).length > 0) return undefined
    json += data
    for (const match of data.matchAll(PIECE)) {
      const start = match.index + match[0].length
      const stop = endOfText(data, start)
      if (stop === -1) return undefined
      add(data.slice(start, stop - 1))
      head = data.slice(0, start)
      tail = data.slice(stop)
    }
  }
  json += ']'
  const isDoubtful = DOUBTFUL.test(others) || hasSecrets(text) || hasSecrets(longer)
  return isDoubtful ? undefined : json
}

/** `text` is as JSON writes it. A secret may be in one piece, or in several. */
function hasSecrets(text: string): boolean {
  const read = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  return read.includes('data:') || findSecrets(read).length > 0
}

/** Behind the closing quote; -1 when it is no plain text. */
function endOfText(data: string, start: number): number {
  REST_OF_TEXT.lastIndex = start
  return REST_OF_TEXT.test(data) ? REST_OF_TEXT.lastIndex : -1
}

function parsed(data: string): JsonValue | undefined {
  try {
    return JSON.parse(data) as JsonValue
  } catch {
    return undefined
  }
}

function isClean(value: JsonValue): boolean {
  const wrapped = { value }
  return prune(wrapped, undefined, Number.POSITIVE_INFINITY).value === wrapped
}
