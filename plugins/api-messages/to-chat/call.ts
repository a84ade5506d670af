import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ConvertedCall } from 'model-gateway/surface'
import { invalid, isPresent, leaveOut, readParams } from 'model-gateway/wire'
import type { ChatTraits } from '../../_shared/convert-once.ts'
import type { MessagesRequest } from './request.ts'
import { nativeOnly, type Target } from './target.ts'
import { chatTools } from './tools.ts'
import { chatMessages } from './turns.ts'

/** Members with the same name in a chat call. */
const SAME = ['model', 'stream', 'max_tokens', 'temperature', 'top_p', 'top_k'] as const

/** Members that are read by themselves. */
const READ: ReadonlySet<string> = new Set([
  ...[...SAME, 'stop_sequences', 'system', 'messages', 'tools', 'tool_choice'],
  // The API version concerns the connection, not the call.
  'anthropic_version',
])
const MAPPED: ReadonlySet<string> = new Set(['metadata', 'output_config'])

/**
 * The chat call for a route. Members without a counterpart are converted, dropped, or refused with
 * GatewayError `invalid_request`.
 */
export function messagesCall(request: MessagesRequest, route: ChatTraits): ConvertedCall {
  const { value, headers } = request
  const dropped: string[] = []
  const target: Target = { ...route, dropped: (name) => void dropped.push(name) }
  const call: JsonObject = {}
  for (const name of SAME) if (isPresent(value[name])) call[name] = value[name]
  if (isPresent(value.stop_sequences)) call.stop = value.stop_sequences
  call.messages = chatMessages(value, target)
  Object.assign(call, chatTools(value, target))
  const others = Object.fromEntries(Object.entries(value).filter(([name]) => !READ.has(name)))
  const { metadata, output_config: output } = readParams(others, MAPPED, target)
  if (headers !== undefined) leaveOut('anthropic_beta', target)
  const user = isJsonObject(metadata) ? metadata.user_id : undefined
  if (route.compatShape && typeof user === 'string') call.user = user
  else if (metadata !== undefined) leaveOut('metadata', target)
  if (output !== undefined) {
    const { takesEffort } = route
    const effort = takesEffort === 'without_tools' ? call.tools === undefined : takesEffort === true
    Object.assign(call, outputMembers(output, effort, target))
  }
  return { body: call, dropped }
}

function outputMembers(config: JsonValue, takesEffort: boolean, target: Target): JsonObject {
  if (!isJsonObject(config)) throw invalid('output_config must be an object')
  const members: JsonObject = {}
  for (const [name, value] of Object.entries(config)) {
    if (value === null || value === undefined) continue
    if (name === 'effort' && takesEffort) members.reasoning_effort = value
    else if (name === 'format') members.response_format = responseFormat(value, target)
    else leaveOut(`output_config.${name}`, target)
  }
  return members
}

function responseFormat(format: JsonValue, { jsonSchema }: Target): JsonObject {
  if (!isJsonObject(format) || format.type !== 'json_schema') {
    throw nativeOnly('output_config.format', 'this type')
  }
  if (!jsonSchema) {
    throw invalid('output_config.format: the route of this model does not support json_schema')
  }
  return {
    type: 'json_schema',
    json_schema: { name: 'output', schema: format.schema, strict: true },
  }
}
