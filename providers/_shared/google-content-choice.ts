import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { type Candidate, type ReplyPart, signed, signedCall } from './google-content-candidate.ts'
import { annotationsOf } from './google-content-facts.ts'
import { endingOf, type FinishReason } from './google-content-finish.ts'
import { audioMember } from './google-content-output.ts'

/** Key for provider-specific data: `provider_metadata.<type>`. */
export type GoogleProviderType = 'cloud_a_ml' | 'gemini'

/** The content of a candidate so far. */
export interface Choice {
  text: string
  readonly thoughts: JsonObject[]
  /** A call arrives whole, but the finish reason decides whether it is valid. */
  readonly calls: JsonObject[]
  readonly images: JsonObject[]
  readonly audio: Extract<ReplyPart, { kind: 'audio' }>[]
  readonly others: JsonObject[]
  signature: Extract<ReplyPart, { kind: 'signature' }> | undefined
  facts: JsonObject
  finishReason: string | undefined
}

export function emptyChoice(): Choice {
  return {
    text: '',
    thoughts: [],
    calls: [],
    images: [],
    audio: [],
    others: [],
    signature: undefined,
    facts: {},
    finishReason: undefined,
  }
}

export function addPart(choice: Choice, part: ReplyPart): void {
  switch (part.kind) {
    case 'text':
      choice.text += part.text
      break
    case 'thought':
      choice.thoughts.push(part.block)
      break
    case 'tool_call':
      choice.calls.push(part.call)
      break
    case 'image':
      choice.images.push({ ...part.image, index: choice.images.length })
      break
    case 'audio':
      choice.audio.push(part)
      break
    case 'signature':
      choice.signature = part
      break
    case 'other':
      choice.others.push(part.part)
      break
  }
}

/** The first finish reason applies; of other facts, the last value. */
export function addFacts(choice: Choice, { facts, finishReason }: Candidate): void {
  if (facts !== undefined) choice.facts = { ...choice.facts, ...facts }
  choice.finishReason ??= finishReason
}

/** Undefined if the model failed. */
export function endOf(choice: Choice): FinishReason | undefined {
  const { text, calls, images, audio, others } = choice
  const anything = text !== '' || [calls, images, audio, others].some((list) => list.length > 0)
  return endingOf(choice.finishReason, { calls: calls.length, anything })
}

/**
 * Data that is complete only at the end: calls, sources, signatures, and what chat completions have
 * no member for. A separate signature belongs to the first call, if that has none.
 */
export function closingMembers(choice: Choice, providerType: GoogleProviderType): JsonObject {
  const { calls, signature, facts, text, others } = choice
  const [first] = calls
  const forCall =
    signature?.alone === true && first !== undefined && first.thought_signature === undefined
  if (forCall) calls[0] = signedCall(first, signature.signature)
  const annotations = annotationsOf(facts, text)
  const metadata = {
    ...facts,
    ...(others.length === 0 ? {} : { parts: others }),
    ...oddEnd(choice.finishReason),
  }
  return {
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(signature === undefined || forCall ? {} : signed(signature.signature)),
    ...(Object.keys(metadata).length === 0
      ? {}
      : { provider_metadata: { [providerType]: metadata } }),
  }
}

/** The service's finish reason, if `finish_reason` does not express it exactly. */
function oddEnd(reason: string | undefined): JsonObject {
  const plain = reason === undefined || reason === 'STOP' || reason === 'MAX_TOKENS'
  return plain ? {} : { finish_reason: reason }
}

/** The message of a buffered reply. */
export function messageOf(
  choice: Choice,
  replyId: string,
  audioFormat: JsonValue,
  providerType: GoogleProviderType,
): JsonObject {
  const { text, calls, images, audio, thoughts } = choice
  const { provider_metadata: metadata, ...members } = closingMembers(choice, providerType)
  const reasoning =
    thoughts.length === 0 ? {} : { reasoning: { source: 'google_content', blocks: thoughts } }
  const told = (metadata as Partial<Record<GoogleProviderType, JsonObject>> | undefined) ?? {}
  const ours = { ...reasoning, ...told[providerType] }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(images.length === 0 ? {} : { images }),
    ...(audio.length === 0 ? {} : { audio: audioMember(`audio_${replyId}`, audio, audioFormat) }),
    ...members,
    ...(Object.keys(ours).length === 0 ? {} : { provider_metadata: { [providerType]: ours } }),
  }
}
