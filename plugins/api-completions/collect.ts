import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isPresent, readObject, type StreamEvent, streamEvent } from 'model-gateway/wire'
import { choicesOf, doneEvent } from './shape.ts'

type Members = Record<string, JsonValue>

/** The whole completion that normalized chunks add up to. */
export function collectCompletion(events: readonly StreamEvent[]): JsonObject {
  let head: JsonObject = {}
  const choices = new Map<JsonValue, Members>()
  for (const event of events) {
    const chunk = readObject(event)
    if (chunk === undefined) continue
    const { choices: _, ...rest } = chunk
    head = { ...head, ...presentIn(rest) }
    for (const choice of choicesOf(chunk)) {
      const { index = 0, text, logprobs, ...others } = choice
      const whole = choices.get(index) ?? { index, text: '', logprobs: null, finish_reason: null }
      choices.set(index, {
        ...whole,
        ...presentIn(others),
        text: `${whole.text}${typeof text === 'string' ? text : ''}`,
        logprobs: joined(whole.logprobs, logprobs),
      })
    }
  }
  return { ...head, choices: [...choices.values()] }
}

/** Concatenates lists of tokens and their data. */
function joined(before: JsonValue | undefined, more: JsonValue | undefined): JsonValue {
  if (!isJsonObject(more)) return before ?? null
  if (!isJsonObject(before)) return more
  const both = Object.entries(more).map(([name, value]) => {
    const known = before[name]
    return [name, Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value]
  })
  return { ...before, ...Object.fromEntries(both) }
}

function presentIn(members: JsonObject): Members {
  const present = Object.entries(members).filter(([, value]) => isPresent(value))
  return Object.fromEntries(present) as Members
}

/** A whole completion as a stream of few chunks. */
export function tellCompletion(reply: JsonObject): StreamEvent[] {
  const { choices: _, usage, ...head } = reply
  const chunk = (more: JsonObject) => streamEvent(JSON.stringify({ ...head, ...more }))
  const events = choicesOf(reply).map((choice) => chunk({ choices: [choice] }))
  if (isPresent(usage)) events.push(chunk({ choices: [], usage }))
  return [...events, doneEvent()]
}
