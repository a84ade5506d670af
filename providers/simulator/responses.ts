import type { JsonObject } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { type Answer, answer, pieces, type Question } from './answer.ts'
import { readResponses } from './question.ts'
import type { Identity, Simulation } from './simulate.ts'

/** Responses, with all event types when streamed. */
export function simulateResponses(body: JsonObject): Simulation {
  const question = readResponses(body)
  const reply = answer(question)
  return {
    text: question.text,
    buffered: (identity) => finished(body, question, reply, identity),
    events: (identity) => events(body, question, reply, identity),
  }
}

function finished(
  body: JsonObject,
  question: Question,
  reply: Answer,
  identity: Identity,
): JsonObject {
  const status = statusOf(reply)
  return {
    ...envelope(body, status, identity),
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    output: [item(reply, status, identity)],
    usage: {
      input_tokens: question.promptTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: reply.tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: question.promptTokens + reply.tokens,
    },
  }
}

function* events(
  body: JsonObject,
  question: Question,
  reply: Answer,
  identity: Identity,
): Generator<StreamEvent> {
  let sequence = 0
  const event = (type: string, fields: JsonObject) =>
    streamEvent(JSON.stringify({ type, sequence_number: sequence++, ...fields }), type)
  const status = statusOf(reply)
  const done = item(reply, status, identity)
  const at = { item_id: done.id, output_index: 0 }
  const response = envelope(body, 'in_progress', identity)

  yield event('response.created', { response })
  yield event('response.in_progress', { response })
  if (reply.kind === 'text') {
    const inPart = { ...at, content_index: 0 }
    const empty = { ...done, status: 'in_progress', content: [] }
    yield event('response.output_item.added', { output_index: 0, item: empty })
    yield event('response.content_part.added', { ...inPart, part: textPart('') })
    for (const delta of pieces(reply.text)) {
      yield event('response.output_text.delta', { ...inPart, delta, logprobs: [] })
    }
    yield event('response.output_text.done', { ...inPart, text: reply.text, logprobs: [] })
    yield event('response.content_part.done', { ...inPart, part: textPart(reply.text) })
  } else {
    const empty = { ...done, status: 'in_progress', arguments: '' }
    yield event('response.output_item.added', { output_index: 0, item: empty })
    for (const delta of pieces(reply.arguments)) {
      yield event('response.function_call_arguments.delta', { ...at, delta })
    }
    yield event('response.function_call_arguments.done', { ...at, arguments: reply.arguments })
  }
  yield event('response.output_item.done', { output_index: 0, item: done })
  yield event(`response.${status}`, { response: finished(body, question, reply, identity) })
}

function statusOf(reply: Answer): 'completed' | 'incomplete' {
  return reply.kind === 'text' && reply.cutShort ? 'incomplete' : 'completed'
}

function item(reply: Answer, status: string, { suffix }: Identity): JsonObject {
  return reply.kind === 'text'
    ? {
        id: `msg_${suffix}`,
        type: 'message',
        status,
        role: 'assistant',
        content: [textPart(reply.text)],
      }
    : {
        id: `fc_${suffix}`,
        type: 'function_call',
        status,
        call_id: `call_${suffix}`,
        name: reply.name,
        arguments: reply.arguments,
      }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function envelope(body: JsonObject, status: string, identity: Identity): JsonObject {
  return {
    id: `resp_${identity.suffix}`,
    object: 'response',
    created_at: identity.created,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model: identity.model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  }
}
