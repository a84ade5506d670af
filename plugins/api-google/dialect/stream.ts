import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream } from 'model-gateway/surface'
import {
  createDialectStream,
  createUsageTap,
  isHeartbeat,
  isPresent,
  readInBandError,
  readObject,
  type StreamEvent,
  type StreamRules,
  type StreamState,
  strayWords,
} from 'model-gateway/wire'
import { objectIn, objectsIn } from '../_shared/shape.ts'
import { callsOf, candidatesOf, isBlocked, readGoogleUsage } from './reply.ts'

/**
 * Checks a stream of responses and passes them on unchanged. Only the end of the connection ends
 * it, so a candidate's `finishReason` and everything after it wait for settlement.
 */
export function createGeneratedStream(): DialectStream {
  return createDialectStream(generatedRules)
}

function generatedRules(state: StreamState): StreamRules {
  const candidates: JsonObject[] = []
  const usage = createUsageTap((metadata) => readGoogleUsage(metadata, candidates))
  const last: StreamEvent[] = []
  let started = false
  let toolCount = 0

  function normalise(event: StreamEvent): StreamEvent | undefined {
    const response = readObject(event)
    if (response === undefined) {
      return isHeartbeat(event)
        ? undefined
        : state.violated('malformed event', 'the data is not a JSON object')
    }
    const told = candidatesOf(response)
    // Searches are reported next to the text, not in each response.
    candidates.push(...told.filter(({ groundingMetadata }) => isPresent(groundingMetadata)))
    toolCount += told.flatMap(callsOf).length
    usage.take(response.usageMetadata)
    if (isPresent(response.error)) return fail(event, response)
    const isBare = !Array.isArray(response.candidates) && !isBlocked(response)
    if (isBare && !isJsonObject(response.usageMetadata)) {
      const words = strayWords(response)
      return words === ''
        ? undefined
        : state.violated('malformed event', `it has no candidates${words}`)
    }
    if (!isBare) started = true
    if (last.length === 0 && !isBlocked(response) && !told.some(isFinished)) return event
    last.push(event)
    return undefined
  }

  function fail(event: StreamEvent, response: JsonObject): StreamEvent {
    const inBand = readInBandError(event, response, [])
    state.fail(inBand.failure)
    return inBand.event
  }

  return {
    normalise,
    end() {
      if (last.length > 0) state.complete(last)
      else if (started) state.violated('premature end', 'no candidate has a finishReason')
      else state.violated('empty stream', 'the upstream sent no response')
    },
    usage: () => usage.usage,
    invokedToolCount: () => toolCount,
  }
}

/** The placeholder for "no reason" is not an end. */
function isFinished({ finishReason }: JsonObject): boolean {
  return isPresent(finishReason) && finishReason !== 'FINISH_REASON_UNSPECIFIED'
}

/** The response that a stream adds up to. */
export function collectGenerated(events: readonly StreamEvent[]): JsonObject {
  let whole: JsonObject = {}
  const candidates = new Map<number, JsonObject>()
  for (const event of events) {
    const response = readObject(event)
    if (response === undefined) continue
    const { candidates: _, ...rest } = response
    whole = { ...whole, ...rest }
    for (const [position, candidate] of candidatesOf(response).entries()) {
      const index = typeof candidate.index === 'number' ? candidate.index : position
      candidates.set(index, continued(candidates.get(index), candidate))
    }
  }
  const isToldNone = candidates.size === 0 && isBlocked(whole)
  return isToldNone ? whole : { ...whole, candidates: [...candidates.values()] }
}

function continued(before: JsonObject | undefined, candidate: JsonObject): JsonObject {
  const content = { ...objectIn(before ?? {}, 'content'), ...objectIn(candidate, 'content') }
  const parts = [before, candidate].flatMap((each) =>
    objectsIn(objectIn(each ?? {}, 'content') ?? {}, 'parts'),
  )
  if (Object.keys(content).length === 0) return { ...before, ...candidate }
  return { ...before, ...candidate, content: { ...content, parts: joined(parts) } }
}

/** Joins pieces of text; other parts are kept. */
function joined(parts: readonly JsonObject[]): JsonObject[] {
  const whole: JsonObject[] = []
  for (const part of parts) {
    const before = whole.at(-1)
    if (before !== undefined && isPlain(before) && isPlain(part) && before.thought === part.thought)
      whole[whole.length - 1] = { ...before, text: `${before.text}${part.text}` }
    else whole.push(part)
  }
  return whole
}

function isPlain(part: JsonObject): boolean {
  return (
    typeof part.text === 'string' &&
    Object.keys(part).every((name) => name === 'text' || name === 'thought')
  )
}

/** The output in the data of one event: text, thoughts, call arguments. */
export function textOfResponse(data: string): string {
  let response: JsonValue
  try {
    response = JSON.parse(data)
  } catch {
    return ''
  }
  if (!isJsonObject(response)) return ''
  return candidatesOf(response)
    .flatMap((candidate) => objectsIn(objectIn(candidate, 'content') ?? {}, 'parts'))
    .map((part) => {
      const call = objectIn(part, 'functionCall')
      return call === undefined ? (part.text ?? '') : JSON.stringify(call.args ?? {})
    })
    .join('')
}
