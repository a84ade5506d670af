import type { StreamEvent } from 'model-gateway/plugin'
import { findSecrets } from '../_shared/secret-text.ts'

/** Shorter streams are not worth a closer look, longer events are no pieces of text. */
const FEWEST_EVENTS = 8
const LONGEST_EVENT = 1_024
/** So many events may differ from the one before them in more than a piece of text. */
const MOST_EXCEPTIONS = 8

/**
 * What a stream without secrets and bulky fields does not have in it: forms of credentials, URLs,
 * parameters, the end of a sensitive key, escapes that could hide any of them, a second choice or
 * tool call that the first one would be mixed with.
 */
const DOUBTFUL =
  /gwk_|sk-|AIza|A[KS]IA|ya29\.|-----BEGIN |:\/\/|data:|\\[u/]|"index": ?[1-9]|sequence_number/
const DOUBTFUL_NAME =
  /bearer\s|[?&;][\w.%-]+=|(?:token|key|secret|password|credentials|authorization|cookie)\\*["']?\s{0,4}[:=]/i

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
  /** The pieces, and all else that is not the same as in the event before. */
  let text = ''
  let others = ''
  let json = '['
  for (const { data } of events) {
    if (data.length > LONGEST_EVENT) return undefined
    if (json !== '[') json += ','
    const end = head !== '' && data.startsWith(head) ? endOfText(data, head.length) : -1
    if (end !== -1 && data.length === end + tail.length && data.endsWith(tail)) {
      text += data.slice(head.length, end - 1)
      json += data
      continue
    }
    exceptions += 1
    if (exceptions > MOST_EXCEPTIONS) return undefined
    others += `${data}\n`
    head = ''
    if (!isJson(data)) {
      json += JSON.stringify(data)
      text += data
      continue
    }
    json += data
    for (const match of data.matchAll(PIECE)) {
      const start = match.index + match[0].length
      const stop = endOfText(data, start)
      if (stop === -1) return undefined
      text += data.slice(start, stop - 1)
      head = data.slice(0, start)
      tail = data.slice(stop)
    }
  }
  json += ']'
  others += text
  const doubtful = DOUBTFUL.test(others) || DOUBTFUL_NAME.test(others)
  return doubtful || findSecrets(text).length > 0 ? undefined : json
}

/** Behind the closing quote; -1 when it is no plain text. */
function endOfText(data: string, start: number): number {
  REST_OF_TEXT.lastIndex = start
  return REST_OF_TEXT.test(data) ? REST_OF_TEXT.lastIndex : -1
}

function isJson(data: string): boolean {
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}
