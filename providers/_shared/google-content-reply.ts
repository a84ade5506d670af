import { countedByGoogle, searchesOf, usageFromGoogle } from 'model-gateway/google'
import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { type ProviderCall, upstreamHttpError } from 'model-gateway/provider'
import {
  blockedPrompt,
  type Candidate,
  type ReadNames,
  readCandidates,
} from './google-content-candidate.ts'
import {
  addFacts,
  addPart,
  emptyChoice,
  endOf,
  type GoogleProviderType,
  messageOf,
} from './google-content-choice.ts'
import { failedCandidate } from './google-content-finish.ts'
import { malformedReply } from './malformed-reply.ts'
import { replyId } from './reply-ids.ts'

type Call = Pick<ProviderCall, 'body' | 'surface'>

/**
 * Converts a GenerateContentResponse to a chat completion. A refused prompt becomes one empty
 * choice. Throws GatewayError for a malformed reply or a failed model, with its usage and
 * `billingModifiers`.
 */
export function chatFromGoogle(
  reply: JsonObject,
  call: Call,
  names: ReadNames,
  billingModifiers: readonly string[] = [],
  providerType: GoogleProviderType = 'cloud_a_ml',
): JsonObject {
  try {
    return completion(reply, call, names, providerType)
  } catch (error) {
    const usage = countedByGoogle(reply.usageMetadata)
    if (!(error instanceof GatewayError) || usage === undefined) throw error
    const { kind, message, status, details } = error
    throw new GatewayError(kind, message, { status, details, usage, billingModifiers })
  }
}

function completion(
  reply: JsonObject,
  call: Call,
  names: ReadNames,
  providerType: GoogleProviderType,
): JsonObject {
  if (isJsonObject(reply.error)) throw errorInReply(reply.error)
  const candidates = readCandidates(reply, names)
  const blocked = blockedPrompt(reply)
  if (candidates.length === 0 && blocked === undefined) throw malformedReply('it has no candidates')
  const facts = candidates.map((candidate) => candidate.facts).filter(isJsonObject)
  const usage = usageFromGoogle(reply.usageMetadata, searchesOf(facts))
  const id = replyId(call, reply.responseId)
  const { audio } = call.body
  const format = isJsonObject(audio) ? (audio.format ?? null) : null
  return {
    id,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: call.body.model ?? null,
    ...(typeof reply.modelVersion === 'string' ? { provider_model: reply.modelVersion } : {}),
    choices:
      candidates.length === 0
        ? [refusal(blocked, providerType)]
        : candidates.map((candidate) => choiceOf(candidate, id, format, providerType)),
    ...(usage === undefined ? {} : { usage }),
  }
}

/** An error in a reply with status 200. */
function errorInReply({ code, status, message }: JsonObject): GatewayError {
  const words =
    typeof message === 'string' ? message : 'the upstream reported an error in its reply'
  const details = typeof status === 'string' ? { upstream_code: status } : {}
  return upstreamHttpError(typeof code === 'number' ? code : 502, words, { details })
}

function refusal(blocked: JsonObject | undefined, providerType: GoogleProviderType): JsonObject {
  return {
    index: 0,
    message: {
      role: 'assistant',
      content: '',
      provider_metadata: { [providerType]: { prompt_feedback: blocked } },
    },
    finish_reason: 'content_filter',
  }
}

function choiceOf(
  candidate: Candidate,
  id: string,
  format: JsonObject[string],
  providerType: GoogleProviderType,
): JsonObject {
  const choice = emptyChoice()
  for (const part of candidate.parts) addPart(choice, part)
  addFacts(choice, candidate)
  const finishReason = endOf(choice)
  if (finishReason === undefined) {
    throw failedCandidate(choice.finishReason, choice.facts.finish_message)
  }
  const { index, logprobs } = candidate
  return {
    index,
    message: messageOf(choice, id, format ?? null, providerType),
    ...(logprobs === undefined ? {} : { logprobs }),
    finish_reason: finishReason,
  }
}
