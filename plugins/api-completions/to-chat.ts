import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type {
  Conversion,
  ConversionRoute,
  ConvertedCall,
  DialectStream,
} from 'model-gateway/surface'
import {
  chatDialect,
  invalid,
  isPresent,
  readObject,
  readParams,
  type StreamEvent,
  textOf,
} from 'model-gateway/wire'
import { COMPLETIONS } from './dialect.ts'
import type { CompletionsRequest } from './request.ts'
import { choicesOf, doneEvent, envelope, withData } from './shape.ts'

/** Text completions on routes with only chat completions: the prompt becomes the user message. */
export const completionsToChat: Conversion<CompletionsRequest> = {
  from: COMPLETIONS,
  to: chatDialect.id,
  request:
    ({ value }) =>
    (route) =>
      chatCall(value, route),
  reply: (reply, _usage, { publicModel }) => ({
    ...envelope(publicModel, idOf(reply)),
    ...(typeof reply.created === 'number' && { created: reply.created }),
    choices: choicesOf(reply).map(({ index = 0, message, finish_reason = null }) =>
      choiceOf(index, message, finish_reason),
    ),
    ...(isPresent(reply.usage) && { usage: reply.usage }),
  }),
  stream: (chat, { publicModel }) => completionsOf(chat, publicModel),
}

/** Drops or refuses members that chat does not have, by the route's setting. */
function chatCall(value: JsonObject, { spec }: ConversionRoute): ConvertedCall {
  const { prompt, suffix, logprobs, echo, best_of, ...rest } = value
  const dropped: string[] = []
  readParams({ suffix, logprobs, echo, best_of }, new Set(), {
    unsupported: spec.unsupportedParams,
    dropped: (name) => dropped.push(name),
  })
  const messages = [{ role: 'user', content: onlyText(prompt) }]
  return { body: { ...rest, messages }, dropped }
}

function onlyText(prompt: JsonValue | undefined): string {
  const [only, ...others] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof only === 'string' && only !== '' && others.length === 0) return only
  throw invalid(
    'prompt must be one string on this route, which supports only chat completions: send one call per prompt, and text instead of token ids',
  )
}

function choiceOf(
  index: JsonValue,
  said: JsonValue | undefined,
  finish_reason: JsonValue,
): JsonObject {
  const text = isJsonObject(said) ? textOf(said) : ''
  return { index, text, logprobs: null, finish_reason }
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' ? id.replace(/^chatcmpl-/, 'cmpl-') : undefined
}

/** Converts a checked chat stream to a completions stream. */
function completionsOf(chat: DialectStream, publicModel: string): DialectStream {
  const own = envelope(publicModel)

  function told(event: StreamEvent): readonly StreamEvent[] {
    const chunk = readObject(event)
    // An error of the upstream.
    if (chunk === undefined || chat.outcome === 'failed') return [event]
    const choices = choicesOf(chunk)
      .map(({ index = 0, delta, finish_reason = null }) => choiceOf(index, delta, finish_reason))
      .filter(({ text, finish_reason }) => text !== '' || finish_reason !== null)
    if (choices.length === 0 && !isPresent(chunk.usage)) return []
    const { id = own.id, created = own.created } = chunk
    const body = {
      ...own,
      id: idOf({ id }) ?? own.id,
      created,
      choices,
      ...(isPresent(chunk.usage) && { usage: chunk.usage }),
    }
    return [withData(event, JSON.stringify(body))]
  }

  return {
    push: (batch) => chat.push(batch).flatMap(told),
    end: () => chat.end(),
    get outcome() {
      return chat.outcome
    },
    get terminal() {
      return chat.outcome === 'complete' ? [doneEvent()] : []
    },
    get failure() {
      return chat.failure
    },
    get usage() {
      return chat.usage
    },
    get invokedToolCount() {
      return chat.invokedToolCount
    },
  }
}
