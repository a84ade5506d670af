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
 * Chat events of the vendor's stream, one JSON object a line:
 *
 *     {"say": "text"}                      a piece of the answer
 *     {"act": {"call": "…", "action": "…"}}  an action begins
 *     {"input": {"call": "…", "piece": "…"}} a piece of its arguments, as JSON text
 *     {"beat": 1}                          nothing, so that the connection stays open
 *     {"fault": {"words": "…", "meter": …}} it failed
 *     {"end": {"ended": "done", "meter": …}} the last line
 *
 * A batch holds what one piece of the connection completed. The gateway adds `[DONE]`. Leaving the
 * generator leaves `pieces`, which ends the call of the vendor.
 */
export async function* streamOf(
  pieces: AsyncIterable<Uint8Array>,
  about: About,
  redact: Redact,
): AsyncGenerator<readonly StreamEvent[]> {
  const base = { ...about, object: 'chat.completion.chunk', created: now() }
  const event = (delta: JsonObject, finish_reason: string | null = null) =>
    streamEvent(JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] }))
  /** The place of each action among the tool calls, by the vendor's id. */
  const actions = new Map<string, number>()
  let begun = false
  let ended = false

  function eventsOf(line: string): StreamEvent[] {
    if (ended) throw malformed('the stream goes on after its end')
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
    throw malformed('there is a line in it that nobody knows')
  }

  function callOf({ call, action }: JsonObject): JsonObject {
    if (typeof call !== 'string' || typeof action !== 'string') {
      throw malformed('an action has no name')
    }
    const index = actions.size
    actions.set(call, index)
    return { index, id: call, type: 'function', function: { name: action, arguments: '' } }
  }

  function continued({ call, piece }: JsonObject): JsonObject {
    const index = actions.get(String(call))
    if (index === undefined || typeof piece !== 'string') {
      throw malformed('an input belongs to no action')
    }
    return { index, function: { arguments: piece } }
  }

  for await (const lines of linesOf(pieces)) {
    const events = lines.flatMap(eventsOf)
    if (events.length === 0) continue
    // What clients put together begins with who speaks.
    yield begun ? events : [event({ role: 'assistant' }), ...events]
    begun = true
  }
  if (!ended) throw malformed('the stream ended early')
}

/** Longest line, in UTF-16 units: a vendor that sends no line end must not fill the memory. */
const LINE_LIMIT = 4 * 1024 * 1024

/** The lines that each piece completes, wherever the stream was cut; empty ones are dropped. */
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
