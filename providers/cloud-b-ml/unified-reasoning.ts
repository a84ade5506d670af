import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalidRequest } from '../_shared/invalid-request.ts'
import { withBeta } from '../_shared/messages-request.ts'
import {
  decideReasoning,
  EFFORT_BETA,
  omitsSampling,
  type Reasoning,
  readReasoning,
} from '../_shared/reasoning.ts'
import { type ReasoningTier, reasoningTier } from '../_shared/reasoning-tiers.ts'

/** Whether Converse accepts reasoning fields of chat calls for this model. */
export function isReasoningModel(upstreamModel: string): boolean {
  return upstreamModel.toLowerCase().includes('anthropic.claude')
}

/** Whether this model accepts an effort without a budget. */
export function takesEffortAlone(upstreamModel: string): boolean {
  const tier = reasoningTier(upstreamModel)
  return isReasoningModel(upstreamModel) && tier !== 'mid' && tier !== 'older'
}

/**
 * `inferenceConfig` and `additionalModelRequestFields` with the caller's reasoning, checked against
 * the model. Empty ones are left out. Throws GatewayError `invalid_request`.
 */
export function unifiedReasoning(
  chat: JsonObject,
  upstreamModel: string,
  inferenceConfig: JsonObject,
  { additionalModelRequestFields: given }: JsonObject,
): JsonObject {
  let config = inferenceConfig
  let additional = {
    ...(chat.top_k === undefined ? {} : { top_k: chat.top_k }),
    ...(isJsonObject(given) ? given : {}),
  }
  if (isReasoningModel(upstreamModel)) {
    const tier = reasoningTier(upstreamModel)
    config = withoutNeutral(config, tier, { temperature: 1, topP: 1 })
    additional = withoutNeutral(additional, tier, { top_k: undefined, topK: undefined })
    additional = withThinking(chat, tier, additional)
  }
  return {
    ...(isEmpty(config) ? {} : { inferenceConfig: config }),
    ...(given !== undefined || !isEmpty(additional)
      ? { additionalModelRequestFields: isEmpty(additional) ? undefined : additional }
      : {}),
  }
}

function withThinking(chat: JsonObject, tier: ReasoningTier, additional: JsonObject): JsonObject {
  const stated = additional.thinking ?? undefined
  const wish = readReasoning({ ...chat, thinking: chat.thinking ?? stated })
  refuseOtherOutput(chat.output_config)
  // The effort has one place here, for all spellings.
  const effort = wish.effort ?? wish.outputEffort
  const outputEffort = tier === 'older' ? wish.outputEffort : undefined
  const decided = decideReasoning(tier, { ...wish, effort, outputEffort })
  const thinking = thinkingOf(tier, decided)
  if (thinking === undefined) return additional
  if (stated !== undefined && !isDeepStrictEqual(stated, thinking)) {
    throw invalidRequest(
      'additionalModelRequestFields.thinking contradicts the reasoning that the call asks for',
    )
  }
  const marked =
    tier === 'mid' && decided.effort !== undefined
      ? { anthropic_beta: withBeta(additional.anthropic_beta, EFFORT_BETA) }
      : {}
  return { ...additional, ...marked, thinking }
}

/** Only the effort of `output_config` is supported here. */
function refuseOtherOutput(config: JsonValue | undefined): void {
  const members = isJsonObject(config) ? Object.entries(config) : []
  for (const [name, value] of members) {
    if (name === 'effort' || value === undefined || value === null) continue
    throw invalidRequest(`output_config.${name} is not supported by this route`)
  }
}

/** Converse has the effort inside `thinking`. */
function thinkingOf(tier: ReasoningTier, { thinking, effort }: Reasoning): JsonObject | undefined {
  if (effort === undefined) return thinking
  return tier === 'mid' ? { ...thinking, effort } : { ...thinking, type: 'adaptive', effort }
}

function withoutNeutral(
  members: JsonObject,
  tier: ReasoningTier,
  controls: Readonly<Record<string, 1 | undefined>>,
): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => !(name in controls) || !omitsSampling(tier, name, value, controls[name]),
    ),
  )
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0
}
