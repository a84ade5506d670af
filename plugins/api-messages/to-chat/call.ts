import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ConvertedCall } from 'model-gateway/surface'
import { invalid, leaveOut, type ParamPolicy, readParams } from 'model-gateway/wire'
import { plainPart } from './blocks.ts'
import type { MessagesRequest } from './request.ts'

/** What of a route decides how a messages request is sent over it. */
export interface MessagesRoute {
  readonly nativeMessages: boolean
  readonly compatShape: boolean
  /** Whether it can be asked for JSON that follows a schema. */
  readonly jsonSchema: boolean
  readonly unsupported?: ParamPolicy['unsupported']
}

/**
 * The chat call that a route is sent for a messages request. A native route takes all of it; for
 * another one the rest is translated, dropped, or refused with GatewayError `invalid_request`.
 */
export function messagesCall(request: MessagesRequest, route: MessagesRoute): ConvertedCall {
  const { body, native, failedResults } = request
  if (route.nativeMessages) return { body, original: native }
  const serverTool = native.serverTools[0]
  if (serverTool !== undefined && route.unsupported !== 'drop') {
    throw nativeOnly('tools', `a tool of type '${String(serverTool.type).slice(0, 64)}'`)
  }
  const call: JsonObject = {
    ...body,
    messages: plainMessages(body.messages as JsonObject[], failedResults),
  }
  if (native.disableParallelToolUse && body.tools !== undefined) call.parallel_tool_calls = false
  const dropped: string[] = []
  const policy = {
    unsupported: route.unsupported,
    dropped: (name: string) => void dropped.push(name),
  }
  if (serverTool !== undefined) leaveOut('tools', policy)
  if (native.cacheControl.size > 0) leaveOut('cache_control', policy)
  const { metadata, output_config: output } = readParams(native.fields, MAPPED, policy)
  const user = isJsonObject(metadata) ? metadata.user_id : undefined
  if (route.compatShape && typeof user === 'string') call.user = user
  else if (metadata !== undefined) leaveOut('metadata', policy)
  if (output !== undefined) Object.assign(call, outputMembers(output, route, policy))
  return { body: call, dropped }
}

/** The version is a matter of the connection: it says nothing about the call. */
const MAPPED: ReadonlySet<string> = new Set(['metadata', 'output_config', 'anthropic_version'])

/**
 * One system message where several follow each other, failed tool results marked as text, and parts
 * that every upstream knows.
 */
function plainMessages(list: readonly JsonObject[], failed: ReadonlySet<JsonObject>): JsonObject[] {
  const plain: JsonObject[] = []
  for (const message of list) {
    const before = plain.at(-1)
    if (message.role === 'system' && before?.role === 'system') {
      plain[plain.length - 1] = { ...before, content: `${before.content}\n\n${message.content}` }
    } else if (failed.has(message)) {
      plain.push({ ...message, content: `Error: ${message.content}` })
    } else if (Array.isArray(message.content)) {
      plain.push({ ...message, content: message.content.map(plainPart) })
    } else {
      plain.push(message)
    }
  }
  return plain
}

function outputMembers(
  config: JsonValue | undefined,
  route: MessagesRoute,
  policy: ParamPolicy,
): JsonObject {
  if (!isJsonObject(config)) throw invalid('output_config must be an object')
  const members: JsonObject = {}
  for (const [name, value] of Object.entries(config)) {
    if (value === null || value === undefined) continue
    if (name === 'effort') members.reasoning_effort = value
    else if (name === 'format') members.response_format = responseFormat(value, route)
    else leaveOut(`output_config.${name}`, policy)
  }
  return members
}

function responseFormat(format: JsonValue, route: MessagesRoute): JsonObject {
  if (!isJsonObject(format) || format.type !== 'json_schema') {
    throw nativeOnly('output_config.format', 'this type')
  }
  if (!route.jsonSchema) {
    throw invalid('output_config.format: the route of this model does not support json_schema')
  }
  return {
    type: 'json_schema',
    json_schema: { name: 'output', schema: format.schema, strict: true },
  }
}

function nativeOnly(field: string, what: string) {
  return invalid(
    `${field}: only an upstream that speaks the messages API takes ${what}, and this model leads to another one`,
  )
}
