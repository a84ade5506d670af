import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Turn } from './chat-conversation.ts'
import { invalidRequest } from './invalid-request.ts'
import type { ReasoningTier } from './reasoning-tiers.ts'

/** The caller's reasoning settings, normalized from several spellings. */
export interface ReasoningWish {
  /** `reasoning_effort` or `reasoning.effort`. */
  readonly effort: string | undefined
  /** `output_config.effort`. */
  readonly outputEffort: string | undefined
  /** From any of four members, such as `thinking.budget_tokens`. */
  readonly budget: number | undefined
  readonly thinking: JsonObject | undefined
}

/** The reasoning members for a model of the tier. */
export interface Reasoning {
  readonly thinking: JsonObject | undefined
  readonly effort: string | undefined
}

/** Reasoning members of a chat call; none is sent unchanged. */
export const reasoningFields = [
  'reasoning_effort',
  'reasoning',
  'reasoning_budget_tokens',
  'thinking_budget_tokens',
] as const

/** Marks the `effort` of a model of the tier `mid` on cloud_b_ml. */
export const EFFORT_BETA = 'effort-2025-11-24'

/** Throws GatewayError `invalid_request` when the call contradicts itself. */
export function readReasoning(body: JsonObject): ReasoningWish {
  const reasoning = object(body.reasoning, 'reasoning') ?? {}
  const thinking = object(body.thinking, 'thinking')
  const outputConfig = object(body.output_config, 'output_config') ?? {}
  if (thinking?.type === 'enabled' && (thinking.budget_tokens ?? null) === null) {
    throw invalidRequest('thinking.budget_tokens is required when thinking.type is enabled')
  }
  const outputEffort = effortOf(outputConfig.effort, 'output_config.effort')
  const effort = agreed([
    ['reasoning_effort', effortOf(body.reasoning_effort, 'reasoning_effort')],
    ['reasoning.effort', effortOf(reasoning.effort, 'reasoning.effort')],
  ])
  agreed([
    ['the reasoning effort', effort],
    ['output_config.effort', outputEffort],
  ])
  const budget = agreed([
    ['reasoning.budget_tokens', budgetOf(reasoning.budget_tokens, 'reasoning.budget_tokens')],
    ['reasoning_budget_tokens', budgetOf(body.reasoning_budget_tokens, 'reasoning_budget_tokens')],
    ['thinking_budget_tokens', budgetOf(body.thinking_budget_tokens, 'thinking_budget_tokens')],
    ['thinking.budget_tokens', budgetOf(thinking?.budget_tokens, 'thinking.budget_tokens')],
  ])
  return { effort, outputEffort, budget, thinking }
}

/**
 * Applies the rules of a tier. The result's `effort` goes to `output_config.effort`, or wherever
 * the upstream has it. Throws GatewayError `invalid_request` for unsupported settings.
 */
export function decideReasoning(tier: ReasoningTier, wish: ReasoningWish): Reasoning {
  const { effort, outputEffort, budget, thinking } = wish
  switch (tier) {
    case 'newest':
      if (budget !== undefined || thinking?.type === 'enabled') {
        throw invalidRequest(
          'thinking budgets are not supported by this model: use reasoning_effort instead',
        )
      }
      return effort === undefined
        ? { thinking, effort: outputEffort }
        : { thinking: adaptive(thinking), effort }

    case 'previous_two':
      refuseBoth(effort, budget)
      if (effort !== undefined) return { thinking: adaptive(thinking), effort }
      return { thinking: withBudget(thinking, budget), effort: outputEffort }

    case 'preview':
      if (thinking?.type === 'disabled') {
        throw invalidRequest('thinking.type: disabled is not supported by this model')
      }
      refuseBoth(effort, budget)
      if (effort === undefined) {
        return { thinking: withBudget(thinking, budget), effort: outputEffort }
      }
      // Validated as for other tiers, but this model thinks by default.
      adaptive(thinking)
      return { thinking, effort }

    case 'mid':
      refuseAdaptive(thinking)
      requireBudget(effort, budget)
      return { thinking: withBudget(thinking, budget), effort: effort ?? outputEffort }

    case 'older':
      refuseAdaptive(thinking)
      if (outputEffort !== undefined) {
        throw invalidRequest('output_config.effort is not supported by this model')
      }
      requireBudget(effort, budget)
      return { thinking: withBudget(thinking, budget), effort: undefined }
  }
}

/**
 * Whether the services refuse a manual budget in this turn: "a final assistant message must start
 * with a thinking block (preceding the lastmost set of tool_use and tool_result blocks)", and
 * earlier thinking is not sent. Adaptive thinking does not have this rule.
 */
export function refusesBudget(thinking: JsonValue | undefined, turns: readonly Turn[]): boolean {
  const answers = turns.at(-1)?.blocks.some(({ kind }) => kind === 'tool_result') === true
  return answers && isJsonObject(thinking) && thinking.type === 'enabled'
}

/**
 * Checks a sampling parameter against the tier; true if it is the default and must be dropped.
 * Throws GatewayError `invalid_request`.
 */
export function omitsSampling(
  tier: ReasoningTier,
  field: string,
  value: JsonValue | undefined,
  neutral: 1 | undefined,
): boolean {
  if (value === undefined || value === null) return true
  if (tier !== 'newest') return false
  if (neutral !== undefined && value === neutral) return true
  throw invalidRequest(
    neutral === undefined
      ? `${field} is not supported by this model`
      : `${field} must be ${neutral} or absent for this model`,
  )
}

function adaptive(thinking: JsonObject | undefined): JsonObject {
  if (thinking !== undefined && thinking.type !== 'adaptive') {
    throw invalidRequest(
      `thinking.type: ${JSON.stringify(thinking.type ?? null)} contradicts the reasoning effort`,
    )
  }
  return { ...thinking, type: 'adaptive' }
}

function withBudget(
  thinking: JsonObject | undefined,
  budget: number | undefined,
): JsonObject | undefined {
  if (budget === undefined) return thinking
  if (thinking !== undefined && thinking.type !== 'enabled') {
    throw invalidRequest(
      `thinking.type: ${JSON.stringify(thinking.type ?? null)} contradicts the thinking budget`,
    )
  }
  return { ...thinking, type: 'enabled', budget_tokens: budget }
}

function refuseBoth(effort: string | undefined, budget: number | undefined): void {
  if (effort !== undefined && budget !== undefined) {
    throw invalidRequest('the reasoning effort contradicts the thinking budget for this model')
  }
}

function refuseAdaptive(thinking: JsonObject | undefined): void {
  if (thinking?.type === 'adaptive') {
    throw invalidRequest('thinking.type: adaptive is not supported by this model')
  }
}

function requireBudget(effort: string | undefined, budget: number | undefined): void {
  if (effort !== undefined && budget === undefined) {
    throw invalidRequest(
      'a reasoning effort needs a budget for this model: set reasoning.budget_tokens too',
    )
  }
}

function object(value: JsonValue | undefined, field: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw invalidRequest(`${field} must be an object`)
  return value
}

function effortOf(value: JsonValue | undefined, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '') {
    throw invalidRequest(`${field} must be a non-empty string`)
  }
  return value
}

function budgetOf(value: JsonValue | undefined, field: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) {
    throw invalidRequest(`${field} must be a positive integer`)
  }
  return value
}

/** The stated value, which may be repeated but not contradict. */
function agreed<T>(stated: readonly (readonly [field: string, value: T | undefined])[]) {
  const given = stated.filter(([, value]) => value !== undefined)
  const [first] = given
  const other = given.find(([, value]) => value !== first?.[1])
  if (first !== undefined && other !== undefined) {
    throw invalidRequest(`${first[0]} and ${other[0]} disagree`)
  }
  return first?.[1]
}
