import type { JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import { prune } from '../_shared/prune.ts'
import { findSecrets } from '../_shared/secret-text.ts'

/** Shorter streams take the general path; longer events are not text deltas. */
const FEWEST_EVENTS = 8
const LONGEST_EVENT = 1_024
/** Maximum number of events that differ from the previous one in more than a text delta. */
const MOST_EXCEPTIONS = 8

/** As in `otp=1234`. */
const SHORTEST_SECRET = 8

/**
 * Patterns that exclude a stream from the fast path: bulky data, escapes that could hide a name,
 * and a second choice or tool call.
 */
const DOUBTFUL = /data:|\\[u/]|"index": ?[1-9]|sequence_number/

const PIECE = /"(?:content|reasoning|reasoning_content|reasoning_text|arguments|text)": ?"/g
/** The rest of a JSON string, complete, with short escapes only. */
const REST_OF_TEXT = /(?:[ !#-[\]-\uffff]|\\["\\bfnrt])*"/y

/**
 * Fast path: the events of a plain stream as a JSON array, without parsing them. Nearly all events
 * equal the previous one except for a text delta, and none contains data to redact. Undefined if
 * that is not certain.
 */
export function plainStream(events: readonly StreamEvent[]): string | undefined {
  if (events.length < FEWEST_EVENTS) return undefined
  let exceptions = 0
  let head = ''
  let tail = ''
  /**
   * The text deltas in JSON form, again those that can contain a whole secret, and all other text.
   */
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
    // A duplicate member keeps only its last value when parsed.
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

/** `text` is in JSON form. A secret may be in one delta or span several. */
function hasSecrets(text: string): boolean {
  const read = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  return read.includes('data:') || findSecrets(read).length > 0
}

/** The index after the closing quote; -1 if the string has other escapes. */
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
