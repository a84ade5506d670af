import type { JsonObject } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { type About, finishOf, malformed, now, parse, type Redact, usageOf } from './convert.ts'

/**
 * Converts the vendor's stream to chat events. It has one JSON object per line, the last with
 * `finish` and `counts`. Each batch has the events that one chunk completes. The gateway adds
 * `[DONE]`.
 */
export async function* streamOf(
  pieces: AsyncIterable<Uint8Array>,
  about: About,
  redact: Redact,
): AsyncGenerator<readonly StreamEvent[]> {
  const base = { ...about, object: 'chat.completion.chunk', created: now() }
  let begun = false
  let finished = false

  function eventsOf(line: string): StreamEvent[] {
    const part = parse(line)
    if (typeof part.error === 'string') {
      throw malformed(`the stream ended with an error: ${redact(part.error)}`)
    }
    if (part.finish === undefined) return [event(base, { content: part.text ?? '' }, null)]
    finished = true
    const usage = { ...base, choices: [], usage: usageOf(part.counts) }
    return [event(base, {}, finishOf(part.finish)), streamEvent(JSON.stringify(usage))]
  }

  for await (const lines of linesOf(pieces)) {
    const events = lines.flatMap(eventsOf)
    if (events.length === 0) continue
    // Clients expect the role in the first event.
    yield begun ? events : [event(base, { role: 'assistant' }, null), ...events]
    begun = true
  }
  if (!finished) throw malformed('the stream ended early')
}

function event(base: JsonObject, delta: JsonObject, finish_reason: string | null): StreamEvent {
  return streamEvent(JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] }))
}

/** The complete lines after each chunk, without empty lines. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const piece of pieces) {
    try {
      rest += decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw malformed('it is not UTF-8', cause)
    }
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield lines.filter((line) => line.trim() !== '')
  }
  if (rest.trim() !== '') throw malformed('the stream ended within a line')
}
