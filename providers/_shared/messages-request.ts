import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import type { NativeMessages } from 'model-gateway/wire'
import { readConversation, type Turn } from './chat-conversation.ts'
import { invalidRequest } from './invalid-request.ts'
import { mergeDeep } from './merge-extra-body.ts'
import { messagesTurn, systemPrompt } from './messages-content.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { messagesTools } from './messages-tools.ts'
import {
  decideReasoning,
  EFFORT_BETA,
  omitsSampling,
  readReasoning,
  reasoningFields,
} from './reasoning.ts'
import { type ReasoningTier, reasoningTier } from './reasoning-tiers.ts'

export interface MessagesRoute {
  readonly dialect: MessagesDialect
  /** As the upstream names it, without a publisher: the tier of its reasoning is read from it. */
  readonly upstreamModel: string
  /** Merged in last, recursively. */
  readonly extraBody: Readonly<JsonObject>
}

export interface MessagesRequest {
  readonly body: JsonObject
  /** For the header `anthropic-beta`; always empty where betas stand in the body. */
  readonly betas: readonly string[]
  /** Names of the members of the body that change the price. */
  readonly billingModifiers: readonly string[]
}

/** Copied as they stand. */
const COPIED = ['anthropic_beta', 'container', 'context_management', 'metadata'] as const

/** Members of a chat call that the mapping reads, or that the gateway itself answers for. */
const MAPPED = new Set<string>([
  ...COPIED,
  ...reasoningFields,
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
])

/** Members that choose another price: a tier, a faster mode, a place of inference. */
const BILLING_MODIFIERS = ['service_tier', 'speed', 'inference_geo'] as const

/**
 * A chat call as a request of the native messages API. Throws GatewayError `invalid_request` for
 * what the dialect cannot say, and for reasoning that contradicts itself or the model.
 */
export function messagesRequest(
  route: MessagesRoute,
  call: Pick<ProviderCall, 'body' | 'stream' | 'original'>,
): MessagesRequest {
  const { dialect, upstreamModel } = route
  const native = call.original as NativeMessages | undefined
  const chat: JsonObject = native === undefined ? call.body : { ...call.body, ...native.fields }
  const tier = reasoningTier(upstreamModel)
  const { system, turns } = readConversation(chat.messages, {
    wireSafeIds: dialect.strict,
    failedToolCalls: native?.failedToolCalls,
  })
  const body: JsonObject = {
    ...(dialect.version === undefined ? {} : { anthropic_version: dialect.version }),
    ...(dialect.sendsModel ? { model: upstreamModel } : {}),
    ...unmapped(chat, dialect, native),
    max_tokens: maxTokens(chat, route),
    messages: turns.filter(saysSomething).map((turn) => messagesTurn(turn, dialect, native)),
  }
  if ((body.system ?? null) === null && system.length > 0) {
    body.system = systemPrompt(system, native?.cacheControl)
  }
  copySampling(body, chat, tier)
  for (const name of COPIED) copy(body, name, chat[name])
  copy(body, 'stop_sequences', stopSequences(chat))
  Object.assign(body, messagesTools(chat, route, native))
  applyReasoning(body, chat, tier, dialect)
  if (
    dialect.sendsStream === 'always' ||
    (dialect.sendsStream === 'when_streaming' && call.stream)
  ) {
    body.stream = call.stream
  }
  return finish(mergeDeep(body, route.extraBody), dialect)
}

/** The upstream refuses turns of the assistant that are empty, as replies can be. */
function saysSomething({ role, blocks }: Turn): boolean {
  return role === 'user' || blocks.length > 0
}

/** What the mapping does not know: refused by name, or passed through. */
function unmapped(
  chat: JsonObject,
  dialect: MessagesDialect,
  native: NativeMessages | undefined,
): JsonObject {
  const rest: JsonObject = {}
  for (const [name, value] of Object.entries(chat)) {
    if (value === undefined || value === null || MAPPED.has(name)) continue
    if (dialect.strict && native?.fields[name] === undefined) {
      throw invalidRequest(`${name} is not supported by this route`)
    }
    rest[name] = value
  }
  return rest
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

function stopSequences(chat: JsonObject): JsonValue | undefined {
  const stop = chat.stop_sequences ?? chat.stop
  return typeof stop === 'string' ? [stop] : stop
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

/** The list of betas with this one in it. */
export function withBeta(betas: JsonValue | undefined, beta: string): JsonValue[] {
  const list = Array.isArray(betas) ? betas : typeof betas === 'string' ? [betas] : []
  return list.includes(beta) ? list : [...list, beta]
}

function finish(body: JsonObject, dialect: MessagesDialect): MessagesRequest {
  const billingModifiers = BILLING_MODIFIERS.filter((name) => (body[name] ?? null) !== null)
  if (dialect.betas === 'body') return { body, betas: [], billingModifiers }
  const { anthropic_beta: betas, ...rest } = body
  const names = Array.isArray(betas) ? betas : [betas]
  return {
    body: rest,
    betas: names.filter((name): name is string => typeof name === 'string' && name !== ''),
    billingModifiers,
  }
}

function copy(body: JsonObject, name: string, value: JsonValue | undefined): void {
  if (value !== undefined && value !== null) body[name] = value
}
