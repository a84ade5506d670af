import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { malformedReply } from './malformed-reply.ts'
import { toolCallId } from './reply-ids.ts'

/** A part of a reply, in the words of chat completions. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly block: JsonObject }
  | { readonly kind: 'tool_call'; readonly call: JsonObject }

export interface Candidate {
  readonly index: number
  readonly parts: readonly ReplyPart[]
  /** Log probabilities as chat completions have them. */
  readonly logprobs: JsonObject | undefined
  /** The upstream's word for why it ended; undefined while it has not. */
  readonly finishReason: string | undefined
}

/** A GenerateContentResponse, buffered or one of a stream. Throws GatewayError `upstream_transport`. */
export function readCandidates(response: JsonObject): Candidate[] {
  const { candidates } = response
  if (candidates === undefined || candidates === null) return []
  if (!Array.isArray(candidates)) throw malformedReply('candidates is not an array')
  return candidates.map(readCandidate)
}

/** The prompt was refused, so that there are no candidates. */
export function isPromptBlocked({ promptFeedback }: JsonObject): boolean {
  return isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string'
}

function readCandidate(candidate: JsonValue, position: number): Candidate {
  if (!isJsonObject(candidate)) throw malformedReply('a candidate is not an object')
  const { content, index, finishReason } = candidate
  const parts = isJsonObject(content) ? (content.parts ?? []) : []
  if (!Array.isArray(parts)) throw malformedReply('parts is not an array')
  return {
    index: typeof index === 'number' ? index : position,
    parts: parts.flatMap(readPart),
    logprobs: readLogprobs(candidate.logprobsResult),
    finishReason: typeof finishReason === 'string' ? finishReason : undefined,
  }
}

/** One part, or none: empty texts say nothing, and some kinds of parts have no place in a chat. */
function readPart(part: JsonValue): ReplyPart[] {
  if (!isJsonObject(part)) throw malformedReply('a part is not an object')
  const { text, functionCall, thoughtSignature } = part
  const signature = typeof thoughtSignature === 'string' ? thoughtSignature : undefined
  if (isJsonObject(functionCall)) {
    return [{ kind: 'tool_call', call: toolCall(functionCall, signature) }]
  }
  if (typeof text !== 'string') return []
  if (part.thought === true) {
    const block = { type: 'thought', text, ...(signature === undefined ? {} : { signature }) }
    return [{ kind: 'thought', block }]
  }
  return text === '' ? [] : [{ kind: 'text', text }]
}

function toolCall({ id, name, args }: JsonObject, signature: string | undefined): JsonObject {
  if (typeof name !== 'string') throw malformedReply('a functionCall has no name')
  return {
    id: toolCallId(id),
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
    ...(signature === undefined ? {} : { thought_signature: signature }),
  }
}

function readLogprobs(result: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const { chosenCandidates, topCandidates } = result
  const content = chosenCandidates.map((chosen, position) => {
    const top = Array.isArray(topCandidates) ? topCandidates[position] : undefined
    const list = isJsonObject(top) && Array.isArray(top.candidates) ? top.candidates : []
    return { ...tokenLogprob(chosen), top_logprobs: list.map(tokenLogprob) }
  })
  return { content, refusal: null }
}

function tokenLogprob(candidate: JsonValue): JsonObject {
  if (!isJsonObject(candidate)) throw malformedReply('a log probability is not an object')
  return { token: candidate.token ?? '', logprob: candidate.logProbability ?? null, bytes: null }
}
