import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import {
  type About,
  brokenOff,
  finishOf,
  malformed,
  now,
  parse,
  type Redact,
  usageOf,
} from './reply.ts'

/**
 * Chat events of the vendor's stream, which has one JSON object per line:
 *
 *     {"say": "text"}                        a piece of the answer
 *     {"act": {"call": "…", "action": "…"}}  an action begins
 *     {"input": {"call": "…", "piece": "…"}} a piece of its arguments, as JSON text
 *     {"beat": 1}                            keep-alive
 *     {"fault": {"words": "…", "meter": …}}  the call failed
 *     {"end": {"ended": "done", "meter": …}} the last line
 *
 * Each batch holds the events of one network chunk. The gateway adds `[DONE]`. Closing the
 * generator closes `pieces`, which ends the call to the vendor.
 */
export async function* streamOf(
  pieces: AsyncIterable<Uint8Array>,
  about: About,
  redact: Redact,
): AsyncGenerator<readonly StreamEvent[]> {
  const base = { ...about, object: 'chat.completion.chunk', created: now() }
  const event = (delta: JsonObject, finish_reason: string | null = null) =>
    streamEvent(JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] }))
  /** Index of each action among the tool calls, by the vendor's id. */
  const actions = new Map<string, number>()
  let begun = false
  let ended = false

  function eventsOf(line: string): StreamEvent[] {
    if (ended) throw malformed('the stream continues after its end line')
    const { say, act, input, beat, fault, end } = parse(line)
    if (typeof say === 'string') return [event({ content: say })]
    if (isJsonObject(act)) return [event({ tool_calls: [callOf(act)] })]
    if (isJsonObject(input)) return [event({ tool_calls: [continued(input)] })]
    if (isJsonObject(fault)) throw brokenOff(fault, redact)
    if (isJsonObject(end)) {
      ended = true
      const usage = { ...base, choices: [], usage: usageOf(end.meter) }
      return [event({}, finishOf(end.ended)), streamEvent(JSON.stringify(usage))]
    }
    if (beat !== undefined) return []
    throw malformed('unknown line')
  }

  function callOf({ call, action }: JsonObject): JsonObject {
    if (typeof call !== 'string' || typeof action !== 'string') {
      throw malformed('an action has no call id or name')
    }
    const index = actions.size
    actions.set(call, index)
    return { index, id: call, type: 'function', function: { name: action, arguments: '' } }
  }

  function continued({ call, piece }: JsonObject): JsonObject {
    const index = actions.get(String(call))
    if (index === undefined || typeof piece !== 'string') {
      throw malformed('an input line has no matching action')
    }
    return { index, function: { arguments: piece } }
  }

  for await (const lines of linesOf(pieces)) {
    const events = lines.flatMap(eventsOf)
    if (events.length === 0) continue
    // The first chunk must have the role, because clients build the message from it.
    yield begun ? events : [event({ role: 'assistant' }), ...events]
    begun = true
  }
  if (!ended) throw malformed('the stream ended without an end line')
}

/**
 * Maximum line length in UTF-16 units, so that a vendor without line ends cannot fill the memory.
 */
const LINE_LIMIT = 4 * 1024 * 1024

/** The non-empty lines that each chunk completes, wherever the chunks are cut. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const piece of pieces) {
    let text: string
    try {
      text = decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw malformed('it is not UTF-8', cause)
    }
    if (!text.includes('\n')) {
      rest += text
      if (rest.length > LINE_LIMIT) throw malformed('a line is too long')
      continue
    }
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield lines.filter((line) => line.trim() !== '')
  }
  if (rest.trim() !== '') throw malformed('the stream ended within a line')
}
