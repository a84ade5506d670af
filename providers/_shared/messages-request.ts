import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, RouteSpec } from 'model-gateway/provider'
import { leaveOut, type ParamPolicy, readParams } from 'model-gateway/wire'
import { billingModifiers } from './billing-modifiers.ts'
import { limitMarks } from './cache-marks.ts'
import { readConversation } from './chat-conversation.ts'
import { readClaudeStop } from './chat-stop.ts'
import { invalidRequest } from './invalid-request.ts'
import { mergeDeep } from './merge-extra-body.ts'
import { messagesTurn, systemPrompt } from './messages-content.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { outputFormat, schemaOf } from './messages-schema.ts'
import { messagesTools } from './messages-tools.ts'
import {
  decideReasoning,
  EFFORT_BETA,
  omitsSampling,
  readReasoning,
  reasoningFields,
  refusesBudget,
} from './reasoning.ts'
import { type ReasoningTier, reasoningTier } from './reasoning-tiers.ts'
import { createToolNames, NAMES_OF_128, type ToolNames } from './tool-names.ts'

const LONGEST_USER_ID = 256

/**
 * `upstreamModel` is the upstream's id without publisher; it decides the reasoning tier.
 * `extraBody` is merged last, recursively.
 */
export interface MessagesRoute
  extends Pick<RouteSpec, 'upstreamModel' | 'extraBody' | 'unsupportedParams'> {
  readonly dialect: MessagesDialect
}

export interface MessagesRequest {
  readonly body: JsonObject
  /** For the header `anthropic-beta`; empty if betas are in the body. */
  readonly betas: readonly string[]
  /** Names of body members that change the price. */
  readonly billingModifiers: readonly string[]
  /** Maps tool names to the names that are sent. */
  readonly names: ToolNames
}

/** Members of the messages API that a chat call may have, copied unchanged. */
const COPIED = ['anthropic_beta', 'container', 'context_management'] as const

/** The same, for upstreams that validate them. */
const PASSED = [
  'anthropic_version',
  'cache_control',
  'fallbacks',
  'inference_geo',
  'mcp_servers',
  'speed',
  'system',
] as const

/** Members of a chat call that the conversion reads, or that the gateway handles. */
const MAPPED: readonly string[] = [
  ...COPIED,
  ...reasoningFields,
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'metadata',
  'parallel_tool_calls',
  'safety_identifier',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'user',
]
/** By the contract, a strict upstream does not get `parallel_tool_calls: false` or a seed. */
const MAPPED_BY_STRICT = new Set<string>(MAPPED.filter((name) => name !== 'parallel_tool_calls'))
const REFUSED_BY_STRICT: ReadonlySet<string> = new Set(['seed'])
const MAPPED_BY_OTHERS = new Set<string>([...MAPPED, ...PASSED])
const MAPPED_WITH_SCHEMA = new Set<string>([...MAPPED_BY_OTHERS, 'response_format'])

/** Members that select another price: tier, fast mode, region of inference. */
export const BILLING_MODIFIERS = ['service_tier', 'speed', 'inference_geo'] as const

/**
 * Converts a chat call to a request of the messages API. Throws GatewayError `invalid_request` for
 * members that the dialect does not support, and for reasoning that contradicts itself or the
 * model.
 */
export function messagesRequest(
  route: MessagesRoute,
  call: Pick<ProviderCall, 'body' | 'stream' | 'dropped'>,
): MessagesRequest {
  const { dialect, upstreamModel } = route
  const policy = {
    unsupported: route.unsupportedParams,
    dropped: call.dropped,
    ...(dialect.strict && { refused: REFUSED_BY_STRICT }),
  }
  // A format other than a JSON schema stays unsupported.
  const schema = dialect.schemas ? schemaOf(call.body.response_format) : undefined
  const others = schema ? MAPPED_WITH_SCHEMA : MAPPED_BY_OTHERS
  const mapped = dialect.strict ? MAPPED_BY_STRICT : others
  const chat = readParams(call.body, mapped, policy)
  const tier = reasoningTier(upstreamModel)
  const names = createToolNames(NAMES_OF_128)
  const { system, turns } = readConversation(chat.messages, {
    names,
    dropped: policy.dropped,
  })
  const body: JsonObject = {
    ...(dialect.version === undefined ? {} : { anthropic_version: dialect.version }),
    ...(dialect.sendsModel ? { model: upstreamModel } : {}),
    max_tokens: maxTokens(chat, route),
    messages: turns.map((turn) => messagesTurn(turn, dialect)),
  }
  for (const name of [...COPIED, ...PASSED]) copy(body, name, chat[name])
  if ((body.system ?? null) === null && system.length > 0) {
    body.system = systemPrompt(system)
  }
  copySampling(body, chat, tier)
  copy(body, 'metadata', readMetadata(chat, policy))
  copy(body, 'stop_sequences', readClaudeStop(chat.stop_sequences ?? chat.stop, policy))
  Object.assign(body, messagesTools(chat, route, names, policy))
  applyReasoning(body, chat, tier, dialect)
  if (schema !== undefined) {
    const config = body.output_config as JsonObject | undefined
    body.output_config = { ...config, format: outputFormat(schema) }
  }
  if (refusesBudget(body.thinking, turns)) {
    leaveOut('thinking', policy)
    delete body.thinking
  }
  if (
    dialect.sendsStream === 'always' ||
    (dialect.sendsStream === 'when_streaming' && call.stream)
  ) {
    body.stream = call.stream
  }
  const limited = limitMarks(body, policy)
  return { ...finish(mergeDeep(limited, route.extraBody), dialect), names }
}

function maxTokens(chat: JsonObject, { dialect, extraBody }: MessagesRoute): JsonValue {
  const limit =
    chat.max_tokens ??
    chat.max_completion_tokens ??
    dialect.defaultMaxTokens ??
    extraBody.max_tokens ??
    undefined
  if (limit === undefined) throw invalidRequest('max_tokens is required by this route')
  return limit
}

/** The API accepts only `user_id` in `metadata`; other members are dropped. */
function readMetadata(chat: JsonObject, policy: ParamPolicy): JsonObject | undefined {
  const { user_id: stated, ...others } = isJsonObject(chat.metadata) ? chat.metadata : {}
  if (Object.keys(others).length > 0) leaveOut('metadata', policy)
  const user = stated ?? chat.user ?? chat.safety_identifier
  return typeof user === 'string' && user !== '' ? { user_id: safeUserId(user) } : undefined
}

/** The API refuses ids that look like an e-mail address or phone number, and long ids. */
function safeUserId(user: string): string {
  const safe = user.length <= LONGEST_USER_ID && !/@|^[+\d\s().-]+$/.test(user)
  return safe ? user : `user_${createHash('sha256').update(user).digest('base64url')}`
}

function copySampling(body: JsonObject, chat: JsonObject, tier: ReasoningTier): void {
  for (const [name, neutral] of [
    ['temperature', 1],
    ['top_p', 1],
    ['top_k', undefined],
  ] as const) {
    const value = chat[name]
    if (!omitsSampling(tier, name, value, neutral)) body[name] = value
  }
}

function applyReasoning(
  body: JsonObject,
  chat: JsonObject,
  tier: ReasoningTier,
  dialect: MessagesDialect,
): void {
  const { thinking, effort } = decideReasoning(tier, readReasoning(chat))
  copy(body, 'thinking', thinking)
  copy(body, 'output_config', chat.output_config)
  if (effort === undefined) return
  body.output_config = { ...(chat.output_config as JsonObject | undefined), effort }
  if (tier === 'mid' && dialect.providerType === 'cloud_b_ml') {
    body.anthropic_beta = withBeta(body.anthropic_beta, EFFORT_BETA)
  }
}

/** The list of betas, with this one. */
export function withBeta(betas: JsonValue | undefined, beta: string): JsonValue[] {
  const list = Array.isArray(betas) ? betas : typeof betas === 'string' ? [betas] : []
  return list.includes(beta) ? list : [...list, beta]
}

function finish(body: JsonObject, dialect: MessagesDialect): Omit<MessagesRequest, 'names'> {
  const modifiers = billingModifiers(BILLING_MODIFIERS, (name) => body[name])
  if (dialect.betas === 'body') return { body, betas: [], billingModifiers: modifiers }
  const { anthropic_beta: betas, ...rest } = body
  const names = Array.isArray(betas) ? betas : [betas]
  return {
    body: rest,
    betas: names.filter((name): name is string => typeof name === 'string' && name !== ''),
    billingModifiers: modifiers,
  }
}

function copy(body: JsonObject, name: string, value: JsonValue | undefined): void {
  if (value !== undefined && value !== null) body[name] = value
}
