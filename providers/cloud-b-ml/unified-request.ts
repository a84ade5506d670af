import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, RouteSpec } from 'model-gateway/provider'
import { leaveOut, readParams } from 'model-gateway/wire'
import { billingModifiers } from '../_shared/billing-modifiers.ts'
import { limitMarks } from '../_shared/cache-marks.ts'
import { readConversation } from '../_shared/chat-conversation.ts'
import { readClaudeStop, readStop } from '../_shared/chat-stop.ts'
import { invalidRequest } from '../_shared/invalid-request.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import { reasoningFields, refusesBudget } from '../_shared/reasoning.ts'
import { createToolNames, NAMES_OF_64, type ToolNames } from '../_shared/tool-names.ts'
import { createCachePoints, markOf } from './unified-cache.ts'
import { unifiedMessages, unifiedSystem } from './unified-content.ts'
import { isReasoningModel, unifiedReasoning } from './unified-reasoning.ts'
import { unifiedTools } from './unified-tools.ts'

export type UnifiedRoute = Pick<RouteSpec, 'upstreamModel' | 'extraBody' | 'unsupportedParams'>

export interface UnifiedRequest {
  readonly body: JsonObject
  readonly billingModifiers: readonly string[]
  /** Maps tool names to the names that are sent. */
  readonly names: ToolNames
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const METADATA = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/

/** Converse's members, in its spelling and ours, with their required form. */
const passedOn: readonly {
  readonly name: string
  readonly alias: string
  readonly shape: string
  fits(value: JsonValue): boolean
}[] = [
  {
    name: 'additionalModelRequestFields',
    alias: 'additional_model_request_fields',
    shape: 'an object',
    fits: isJsonObject,
  },
  {
    name: 'requestMetadata',
    alias: 'request_metadata',
    shape: 'an object of at most 16 short texts of plain characters',
    fits: (value) =>
      isJsonObject(value) &&
      Object.keys(value).length <= 16 &&
      Object.entries(value)
        .flat()
        .every((entry) => typeof entry === 'string' && METADATA.test(entry)),
  },
  {
    name: 'performanceConfig',
    alias: 'performance_config',
    shape: 'an object with latency standard or optimized',
    fits: (value) =>
      isJsonObject(value) && (value.latency === 'standard' || value.latency === 'optimized'),
  },
  {
    name: 'guardrailConfig',
    alias: 'guardrail_config',
    shape: 'an object with guardrailIdentifier and guardrailVersion',
    fits: (value) =>
      isJsonObject(value) &&
      typeof value.guardrailIdentifier === 'string' &&
      typeof value.guardrailVersion === 'string',
  },
  {
    name: 'additionalModelResponseFieldPaths',
    alias: 'additional_model_response_field_paths',
    shape: 'a list of at most 10 strings',
    fits: (value) =>
      Array.isArray(value) && value.length <= 10 && value.every((path) => typeof path === 'string'),
  },
]

const REASONING = [...reasoningFields, 'thinking', 'output_config']

/** Members of a chat call that the conversion reads, or that the gateway handles. */
const MAPPED: readonly string[] = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  ...passedOn.flatMap(({ name, alias }) => [name, alias]),
]
const MAPPED_FOR_ANY = new Set(MAPPED)
const MAPPED_FOR_CLAUDE = new Set([...MAPPED, ...REASONING, 'parallel_tool_calls', 'top_k'])

/** Converts a chat call to a Converse request. Throws GatewayError `invalid_request`. */
export function unifiedRequest(
  { upstreamModel, extraBody, unsupportedParams: unsupported }: UnifiedRoute,
  call: Pick<ProviderCall, 'body' | 'dropped'>,
): UnifiedRequest {
  const policy = { unsupported, dropped: call.dropped }
  const claude = isReasoningModel(upstreamModel)
  const chat = readParams(call.body, claude ? MAPPED_FOR_CLAUDE : MAPPED_FOR_ANY, policy)
  const names = createToolNames(NAMES_OF_64)
  const points = createCachePoints(upstreamModel, policy)
  const { system, turns } = readConversation(chat.messages, { names, dropped: call.dropped })
  const body: JsonObject = {
    messages: unifiedMessages(turns, (block) => points('messages', markOf(block))),
    ...(system.length === 0
      ? {}
      : { system: unifiedSystem(system, (block) => points('system', markOf(block))) }),
    ...unifiedTools(chat, { turns, names, upstreamModel, claude, points, policy }),
  }
  for (const member of passedOn) {
    const value = readPassedOn(chat, member)
    if (value === undefined) continue
    const own = body[member.name]
    body[member.name] = isJsonObject(own) ? { ...own, ...(value as JsonObject) } : value
  }
  const inferenceConfig = defined({
    maxTokens: chat.max_completion_tokens ?? chat.max_tokens,
    temperature: chat.temperature,
    topP: chat.top_p,
    stopSequences: claude ? readClaudeStop(chat.stop, policy) : readStop(chat.stop),
  })
  Object.assign(body, unifiedReasoning(chat, upstreamModel, inferenceConfig, body))
  const { additionalModelRequestFields: more } = body
  if (isJsonObject(more) && refusesBudget(more.thinking, turns)) {
    leaveOut('thinking', policy)
    const { thinking: _, ...rest } = more
    body.additionalModelRequestFields = Object.keys(rest).length === 0 ? undefined : rest
  }
  return { ...finish(mergeDeep(limitMarks(body, policy), extraBody)), names }
}

function readPassedOn(
  chat: JsonObject,
  { name, alias, shape, fits }: (typeof passedOn)[number],
): JsonValue | undefined {
  const stated = [name, alias].filter((spelling) => (chat[spelling] ?? null) !== null)
  const [spelling] = stated
  if (spelling === undefined) return undefined
  if (stated.length > 1) throw invalidRequest(`${name} and ${alias} are the same: send one`)
  const value = chat[spelling] as JsonValue
  if (!fits(value)) throw invalidRequest(`${spelling} must be ${shape}`)
  return value
}

function finish(body: JsonObject): Omit<UnifiedRequest, 'names'> {
  const { performanceConfig, serviceTier } = body
  const asked: JsonObject = {
    service_tier: isJsonObject(serviceTier) ? serviceTier.type : serviceTier,
    latency: isJsonObject(performanceConfig) ? performanceConfig.latency : performanceConfig,
  }
  // By the names under which the reply reports them.
  return { body, billingModifiers: billingModifiers(Object.keys(asked), (name) => asked[name]) }
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  )
}
