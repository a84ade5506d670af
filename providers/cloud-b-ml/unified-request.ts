import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { readConversation } from '../_shared/chat-conversation.ts'
import { invalidRequest } from '../_shared/invalid-request.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import { reasoningFields } from '../_shared/reasoning.ts'
import { unifiedMessages, unifiedSystem } from './unified-content.ts'
import { isReasoningModel, unifiedReasoning } from './unified-reasoning.ts'
import { unifiedTools } from './unified-tools.ts'

export interface UnifiedRoute {
  readonly upstreamModel: string
  readonly extraBody: Readonly<JsonObject>
}

export interface UnifiedRequest {
  readonly body: JsonObject
  readonly billingModifiers: readonly string[]
}

/** Converse's own members, in its spelling and in ours, and what they must look like. */
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
    shape: 'an object of at most 16 strings',
    fits: (value) =>
      isJsonObject(value) &&
      Object.keys(value).length <= 16 &&
      Object.values(value).every((entry) => typeof entry === 'string'),
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

/** Members of a chat call that the mapping reads, or that the gateway itself answers for. */
const MAPPED = new Set<string>([
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
])
const REASONING = new Set<string>([...reasoningFields, 'thinking', 'output_config'])

/** A chat call as a Converse request. Throws GatewayError `invalid_request`. */
export function unifiedRequest(
  { upstreamModel, extraBody }: UnifiedRoute,
  call: Pick<ProviderCall, 'body'>,
): UnifiedRequest {
  const chat = call.body
  refuseUnknown(chat, isReasoningModel(upstreamModel))
  const { system, turns } = readConversation(chat.messages, { wireSafeIds: true })
  const body: JsonObject = {
    messages: unifiedMessages(turns),
    ...(system.length === 0 ? {} : { system: unifiedSystem(system) }),
    ...unifiedTools(chat, turns, upstreamModel),
  }
  for (const member of passedOn) {
    const value = readPassedOn(chat, member)
    if (value !== undefined) body[member.name] = value
  }
  const inferenceConfig = defined({
    maxTokens: chat.max_completion_tokens ?? chat.max_tokens,
    temperature: chat.temperature,
    topP: chat.top_p,
    stopSequences: typeof chat.stop === 'string' ? [chat.stop] : chat.stop,
  })
  Object.assign(body, unifiedReasoning(chat, upstreamModel, inferenceConfig, body))
  return finish(mergeDeep(body, extraBody))
}

function refuseUnknown(chat: JsonObject, reasons: boolean): void {
  for (const [name, value] of Object.entries(chat)) {
    if (value === undefined || value === null || MAPPED.has(name)) continue
    if (reasons && REASONING.has(name)) continue
    throw invalidRequest(`${name} is not supported by this route`)
  }
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

function finish(body: JsonObject): UnifiedRequest {
  const { performanceConfig, serviceTier } = body
  const billingModifiers: string[] = []
  if ((serviceTier ?? null) !== null) billingModifiers.push('serviceTier')
  if (isJsonObject(performanceConfig) && (performanceConfig.latency ?? 'standard') !== 'standard') {
    billingModifiers.push('performanceConfig')
  }
  return { body, billingModifiers }
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  )
}
