import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { readCandidateFacts } from './google-content-facts.ts'
import { mediaOfReply } from './google-content-output.ts'
import { malformedReply } from './malformed-reply.ts'
import { toolCallId } from './reply-ids.ts'
import type { ToolNames } from './tool-names.ts'

/** A part of a reply, in chat completion terms. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly block: JsonObject }
  | { readonly kind: 'tool_call'; readonly call: JsonObject }
  | { readonly kind: 'image'; readonly image: JsonObject }
  /** Base64 audio, which streams send in pieces. */
  | { readonly kind: 'audio'; readonly data: string; readonly mimeType: string }
  /** The signature of the text before it, or if it comes alone, of the reply. */
  | { readonly kind: 'signature'; readonly signature: string; readonly alone: boolean }
  /** A part without a chat completion member, unchanged. */
  | { readonly kind: 'other'; readonly part: JsonObject }

/** Maps upstream tool names to the caller's. */
export type ReadNames = Pick<ToolNames, 'asked'>

export interface Candidate {
  readonly index: number
  readonly parts: readonly ReplyPart[]
  /** Log probabilities in chat completion format. */
  readonly logprobs: JsonObject | undefined
  /** Other facts, by their names in `provider_metadata`. */
  readonly facts: JsonObject | undefined
  /** The upstream's finish reason; undefined before the end. */
  readonly finishReason: string | undefined
}

/** The placeholder for "no reason", which some responses in mid-stream have. */
const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

/**
 * Reads a GenerateContentResponse, buffered or streamed. Throws GatewayError `upstream_transport`.
 */
export function readCandidates(response: JsonObject, names: ReadNames): Candidate[] {
  const { candidates } = response
  if (candidates === undefined || candidates === null) return []
  if (!Array.isArray(candidates)) throw malformedReply('candidates is not an array')
  return candidates.map((candidate, position) => readCandidate(candidate, position, names))
}

/** `promptFeedback` of a refused prompt, which has no candidates. */
export function blockedPrompt({ promptFeedback }: JsonObject): JsonObject | undefined {
  const blocked = isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string'
  return blocked ? promptFeedback : undefined
}

/** A signature where Google's chat completions have it. */
export function signed(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } }
}

/** A call with its signature, also under this gateway's name. */
export function signedCall(call: JsonObject, signature: string): JsonObject {
  return { ...call, thought_signature: signature, ...signed(signature) }
}

function readCandidate(candidate: JsonValue, position: number, names: ReadNames): Candidate {
  if (!isJsonObject(candidate)) throw malformedReply('a candidate is not an object')
  const { content, index, finishReason } = candidate
  const parts = isJsonObject(content) ? (content.parts ?? []) : []
  if (!Array.isArray(parts)) throw malformedReply('parts is not an array')
  return {
    index: typeof index === 'number' ? index : position,
    parts: parts.flatMap((part) => readPart(part, names)),
    logprobs: readLogprobs(candidate.logprobsResult),
    facts: readCandidateFacts(candidate),
    finishReason: endReason(finishReason),
  }
}

/** A missing reason and the placeholder are not an end. */
function endReason(reason: JsonValue | undefined): string | undefined {
  const stated = typeof reason === 'string' && reason !== '' && reason !== UNSPECIFIED
  return stated ? reason : undefined
}

/** One part as its content and signature; nothing for an empty text. */
function readPart(part: JsonValue, names: ReadNames): ReplyPart[] {
  if (!isJsonObject(part)) throw malformedReply('a part is not an object')
  const { text, functionCall, thoughtSignature } = part
  const plain = part.thought !== true && thoughtSignature === undefined
  if (plain && typeof text === 'string' && text !== '') return [{ kind: 'text', text }]
  const signature =
    typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : undefined
  if (part.thought === true) return [{ kind: 'thought', block: thoughtBlock(part, signature) }]
  if (isJsonObject(functionCall)) {
    const call = toolCall(functionCall, names)
    return [
      { kind: 'tool_call', call: signature === undefined ? call : signedCall(call, signature) },
    ]
  }
  const media = mediaOfReply(part)
  if (media?.kind === 'image' && signature !== undefined) {
    return [{ kind: 'image', image: { ...media.image, ...signed(signature) } }]
  }
  const said: ReplyPart[] =
    media !== undefined
      ? [media]
      : typeof text === 'string'
        ? text === ''
          ? []
          : [{ kind: 'text', text }]
        : isEmpty(part)
          ? []
          : [{ kind: 'other', part }]
  return signature === undefined
    ? said
    : [...said, { kind: 'signature', signature, alone: said.length === 0 }]
}

/** Whether a part contains only a signature. */
function isEmpty(part: JsonObject): boolean {
  return Object.keys(part).every((name) => name === 'thoughtSignature' || name === 'thought')
}

/** A thought is text or, for models that draw, an image. */
function thoughtBlock(part: JsonObject, signature: string | undefined): JsonObject {
  const { text, thought: _, thoughtSignature: __, ...rest } = part
  return {
    type: 'thought',
    ...(typeof text === 'string' ? { text } : { text: '', ...rest }),
    ...(signature === undefined ? {} : { signature }),
  }
}

function toolCall({ id, name, args }: JsonObject, { asked }: ReadNames): JsonObject {
  if (typeof name !== 'string') throw malformedReply('a functionCall has no name')
  return {
    id: toolCallId(id),
    type: 'function',
    function: { name: asked(name), arguments: JSON.stringify(args ?? {}) },
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
