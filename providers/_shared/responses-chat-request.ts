import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, RouteSpec } from 'model-gateway/provider'
import { leaveOut, type ParamPolicy, readParams } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'
import { takesEffort } from './reasoning-models.ts'
import { responsesInput } from './responses-chat-input.ts'
import type { Memory } from './responses-chat-reasoning.ts'
import { responsesTools, TOOL_PARAMS } from './responses-chat-tools.ts'
import type { ToolNames } from './tool-names.ts'

/** Members with the same name in both APIs. */
const SAME = [
  'metadata',
  'moderation',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'temperature',
  'top_logprobs',
  'top_p',
  'user',
] as const

/** Members of `reasoning` that some chat callers use in addition to an effort. */
const OF_REASONING: ReadonlySet<string> = new Set(['effort', 'summary', 'context', 'mode'])

/** Members that the request has a place for, or that the gateway handles. */
const MAPPED: ReadonlySet<string> = new Set([
  ...SAME,
  ...TOOL_PARAMS,
  ...['model', 'messages', 'stream', 'stream_options', 'store', 'service_tier', 'logprobs'],
  ...['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'reasoning', 'response_format'],
  'verbosity',
])

/** "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16" */
const LEAST_TOKENS = 16

export interface RequestContext {
  readonly upstreamModel: string
  readonly unsupportedParams?: RouteSpec['unsupportedParams'] | undefined
  readonly names: ToolNames
  /** Whether the upstream supports `store`. */
  readonly storable: boolean
  readonly memory: Memory
}

/**
 * Converts a chat call to a request of the responses API. Nothing is stored unless the caller says
 * so, and reasoning is returned in a form that can be sent again. Throws GatewayError
 * `invalid_request`.
 */
export function responsesRequest(
  body: Readonly<JsonObject>,
  { stream, dropped }: Pick<ProviderCall, 'stream' | 'dropped'>,
  { upstreamModel, unsupportedParams, names, storable, memory }: RequestContext,
): JsonObject {
  const policy = { unsupported: unsupportedParams, dropped }
  const params = readParams(body, MAPPED, policy)
  const { stream_options: streaming, max_tokens, max_completion_tokens } = params
  const limit = max_completion_tokens ?? max_tokens
  const reasoning = reasoningOf(params, policy)
  const text = textOf(params)
  const include = includes(params, memory !== 'none' && takesEffort(upstreamModel) !== false)
  return {
    model: upstreamModel,
    input: responsesInput(params.messages, { names, dropped, memory }),
    ...responsesTools(params, names, policy),
    ...Object.fromEntries(SAME.flatMap((name) => (name in params ? [[name, params[name]]] : []))),
    ...(limit !== undefined && {
      max_output_tokens: typeof limit === 'number' ? Math.max(limit, LEAST_TOKENS) : limit,
    }),
    // Sent explicitly, because the project's default tier may be another.
    ...(typeof body.service_tier === 'string' && { service_tier: body.service_tier }),
    ...(reasoning !== undefined && { reasoning }),
    ...(text !== undefined && { text }),
    ...(include.length > 0 && { include }),
    ...(storable && { store: params.store ?? false }),
    ...(stream && { stream }),
    ...(stream &&
      isJsonObject(streaming) &&
      typeof streaming.include_obfuscation === 'boolean' && {
        stream_options: { include_obfuscation: streaming.include_obfuscation },
      }),
  }
}

function reasoningOf(params: JsonObject, policy: ParamPolicy): JsonObject | undefined {
  const { reasoning_effort: effort, reasoning = {} } = params
  if (!isJsonObject(reasoning)) throw invalidRequest('reasoning must be an object')
  const wish: [string, JsonValue][] = []
  for (const [name, value] of Object.entries(reasoning)) {
    if (value === undefined || value === null) continue
    if (OF_REASONING.has(name)) wish.push([name, value])
    else leaveOut(`reasoning.${name}`, policy)
  }
  const stated = reasoning.effort ?? effort
  if (effort !== undefined && stated !== effort) {
    throw invalidRequest('reasoning_effort and reasoning.effort contradict each other')
  }
  const asked = { ...Object.fromEntries(wish), ...(stated !== undefined && { effort: stated }) }
  return Object.keys(asked).length === 0 ? undefined : asked
}

function textOf({ response_format: format, verbosity }: JsonObject): JsonObject | undefined {
  if (format === undefined && verbosity === undefined) return undefined
  return {
    ...(format !== undefined && { format: formatOf(format) }),
    ...(verbosity !== undefined && { verbosity }),
  }
}

function formatOf(format: JsonValue): JsonObject {
  const type = isJsonObject(format) ? format.type : undefined
  if (type === 'json_object') return { type }
  const definition = isJsonObject(format) ? format.json_schema : undefined
  if (type !== 'json_schema' || !isJsonObject(definition)) {
    throw invalidRequest('response_format must be text, json_object or a json_schema')
  }
  const { name = 'output', description, schema = {}, strict } = definition
  return {
    type,
    name,
    ...(typeof description === 'string' && { description }),
    schema,
    strict: strict === true,
  }
}

/** Additional reply members. A model without reasoning has none to encrypt. */
function includes({ logprobs }: JsonObject, reasoning: boolean): string[] {
  return [
    ...(reasoning ? ['reasoning.encrypted_content'] : []),
    ...(logprobs === true ? ['message.output_text.logprobs'] : []),
  ]
}
