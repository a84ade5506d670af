import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { type Answer, answer, pieces, type Question } from './answer.ts'
import { readChat } from './question.ts'
import type { Identity, Simulation } from './simulate.ts'

/** Chat completions, as OpenAI words them. Streams always end with their usage. */
export function simulateChat(body: JsonObject): Simulation {
  const question = readChat(body)
  const reply = answer(question)
  return {
    text: question.text,
    buffered: (identity) => completion(question, reply, identity),
    events: (identity) => chunks(question, reply, identity),
  }
}

function completion(question: Question, reply: Answer, identity: Identity): JsonObject {
  const message: JsonObject =
    reply.kind === 'text'
      ? { role: 'assistant', content: reply.text, refusal: null }
      : {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [
            {
              id: `call_${identity.suffix}`,
              type: 'function',
              function: { name: reply.name, arguments: reply.arguments },
            },
          ],
        }
  return {
    ...envelope('chat.completion', identity),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usage(question, reply),
  }
}

function* chunks(question: Question, reply: Answer, identity: Identity): Generator<StreamEvent> {
  const chunk = (choices: JsonValue[], counters: JsonObject | null = null) =>
    streamEvent(
      JSON.stringify({
        ...envelope('chat.completion.chunk', identity),
        choices,
        usage: counters,
      }),
    )
  const delta = (value: JsonObject, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }])

  if (reply.kind === 'text') {
    yield delta({ role: 'assistant', content: '', refusal: null })
    for (const content of pieces(reply.text)) yield delta({ content })
  } else {
    const call = (value: JsonObject) => ({ tool_calls: [{ index: 0, ...value }] })
    const opened = {
      id: `call_${identity.suffix}`,
      type: 'function',
      function: { name: reply.name, arguments: '' },
    }
    yield delta({ role: 'assistant', content: null, ...call(opened) })
    for (const piece of pieces(reply.arguments)) {
      yield delta(call({ function: { arguments: piece } }))
    }
  }
  yield delta({}, finishReason(reply))
  yield chunk([], usage(question, reply))
  yield streamEvent('[DONE]')
}

function envelope(object: string, { suffix, created, model }: Identity): JsonObject {
  return { id: `chatcmpl-${suffix}`, object, created, model, system_fingerprint: null }
}

function finishReason(reply: Answer): string {
  if (reply.kind === 'tool') return 'tool_calls'
  return reply.cutShort ? 'length' : 'stop'
}

function usage({ promptTokens }: Question, { tokens }: Answer): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: tokens,
    total_tokens: promptTokens + tokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}
