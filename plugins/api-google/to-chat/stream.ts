import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream, ReplyIdentity } from 'model-gateway/surface'
import { type StreamEvent, said, streamEvent } from 'model-gateway/wire'
import { callPart, callsOf, candidate, partsOf, response } from './reply.ts'

/** A choice so far. */
interface Choice {
  /** Calls by index, because Google's responses contain only complete ones. */
  readonly calls: Map<JsonValue, JsonObject>
  finish: JsonValue | undefined
}

/**
 * Converts a checked chat completions stream to generateContent responses. The last response has
 * the calls, finish reasons and usage.
 */
export function createGoogleStream(chat: DialectStream, identity: ReplyIdentity): DialectStream {
  const choices = new Map<JsonValue, Choice>()
  let id: JsonValue | undefined
  let terminal: readonly StreamEvent[] = []

  const told = (candidates: readonly JsonObject[]) =>
    streamEvent(
      JSON.stringify(response(candidates, id, terminalIsDue() ? chat.usage : undefined, identity)),
    )

  function terminalIsDue(): boolean {
    return chat.outcome === 'complete'
  }

  function read(event: StreamEvent): StreamEvent | undefined {
    const chunk = event.data.trim() === '[DONE]' ? undefined : event.json()
    // An error of the upstream ends the stream as a failure.
    if (!isJsonObject(chunk) || chat.outcome === 'failed') return undefined
    id = said(chunk.id) ?? id
    const list = Array.isArray(chunk.choices) ? chunk.choices.filter(isJsonObject) : []
    const candidates = list.flatMap((choice) => readChoice(choice))
    return candidates.length === 0 ? undefined : told(candidates)
  }

  function readChoice(choice: JsonObject): JsonObject[] {
    const index = choice.index ?? 0
    const known = choices.get(index) ?? { calls: new Map(), finish: undefined }
    choices.set(index, known)
    if (typeof choice.finish_reason === 'string') known.finish = choice.finish_reason
    const delta = isJsonObject(choice.delta) ? choice.delta : {}
    for (const piece of callsOf(delta)) {
      const at = piece.index ?? 0
      known.calls.set(at, continued(known.calls.get(at), piece))
    }
    const parts = partsOf(delta)
    return parts.length === 0 ? [] : [candidate(index, parts)]
  }

  function completeWithChat(): void {
    if (chat.outcome !== 'complete') return
    const ends = [...choices].map(([index, { calls, finish }]) =>
      candidate(index, [...calls.values()].map(callPart), finish ?? 'stop'),
    )
    terminal = [told(ends)]
  }

  return {
    push(batch) {
      const out: StreamEvent[] = []
      if (chat.outcome !== 'open') return out
      // One at a time, because the outcome depends on the last one.
      for (const event of batch) {
        for (const normalised of chat.push([event])) {
          const sent = read(normalised)
          if (sent !== undefined) out.push(sent)
        }
      }
      completeWithChat()
      return out
    },
    end() {
      if (chat.outcome !== 'open') return
      chat.end()
      completeWithChat()
    },
    get outcome() {
      return chat.outcome
    },
    get terminal() {
      return terminal
    },
    get failure() {
      return chat.failure && { ...chat.failure, forwarded: false }
    },
    get usage() {
      return chat.usage
    },
    get invokedToolCount() {
      return chat.invokedToolCount
    },
  }
}

/** Adds a piece of a call's arguments; its other members come once. */
function continued(before: JsonObject | undefined, piece: JsonObject): JsonObject {
  if (before === undefined) return piece
  const fn = isJsonObject(before.function) ? before.function : {}
  const more = isJsonObject(piece.function) ? piece.function : {}
  return {
    ...piece,
    ...before,
    function: {
      ...more,
      ...fn,
      arguments: `${said(fn.arguments) ?? ''}${said(more.arguments) ?? ''}`,
    },
  }
}
