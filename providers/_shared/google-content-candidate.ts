import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { readCandidateFacts } from './google-content-facts.ts'
import { mediaOfReply } from './google-content-output.ts'
import { malformedReply } from './malformed-reply.ts'
import { toolCallId } from './reply-ids.ts'
import type { ToolNames } from './tool-names.ts'

/** A part of a reply, in the words of chat completions. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly block: JsonObject }
  | { readonly kind: 'tool_call'; readonly call: JsonObject }
  | { readonly kind: 'image'; readonly image: JsonObject }
  /** Sound in base64, which a stream sends in pieces. */
  | { readonly kind: 'audio'; readonly data: string; readonly mimeType: string }
  /** The signature of the text before it or, where it stands alone, of whatever the reply holds. */
  | { readonly kind: 'signature'; readonly signature: string; readonly alone: boolean }
  /** A part that chat completions have no member for, as it came. */
  | { readonly kind: 'other'; readonly part: JsonObject }

/** How the caller knows the tools that the upstream names. */
export type ReadNames = Pick<ToolNames, 'asked'>

export interface Candidate {
  readonly index: number
  readonly parts: readonly ReplyPart[]
  /** Log probabilities as chat completions have them. */
  readonly logprobs: JsonObject | undefined
  /** What else it tells, by the names of `provider_metadata`. */
  readonly facts: JsonObject | undefined
  /** The upstream's word for why it ended; undefined while it has not. */
  readonly finishReason: string | undefined
}

/** Stands for a reason that is not there, which some responses in the middle of a stream say. */
const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

/** A GenerateContentResponse, buffered or one of a stream. Throws GatewayError `upstream_transport`. */
export function readCandidates(response: JsonObject, names: ReadNames): Candidate[] {
  const { candidates } = response
  if (candidates === undefined || candidates === null) return []
  if (!Array.isArray(candidates)) throw malformedReply('candidates is not an array')
  return candidates.map((candidate, position) => readCandidate(candidate, position, names))
}

/** `promptFeedback` of a prompt that was refused, so that there are no candidates. */
export function blockedPrompt({ promptFeedback }: JsonObject): JsonObject | undefined {
  const blocked = isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string'
  return blocked ? promptFeedback : undefined
}

/** A signature in the place that Google's own chat completions have for it. */
export function signed(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } }
}

/** A call with its signature, under the name of this gateway as well. */
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

/** Nothing, and the word for nothing, are no end. */
function endReason(reason: JsonValue | undefined): string | undefined {
  const stated = typeof reason === 'string' && reason !== '' && reason !== UNSPECIFIED
  return stated ? reason : undefined
}

/** One part as what it says and how that is signed; nothing for an empty text. */
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

/** Whether a part holds nothing but a signature. */
function isEmpty(part: JsonObject): boolean {
  return Object.keys(part).every((name) => name === 'thoughtSignature' || name === 'thought')
}

/** A thought may be a text or, of models that draw, an image. */
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
