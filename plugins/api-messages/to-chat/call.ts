import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ConvertedCall } from 'model-gateway/surface'
import {
  invalid,
  leaveOut,
  type NativeMessages,
  type ParamPolicy,
  readParams,
} from 'model-gateway/wire'
import { plainPart } from './blocks.ts'
import type { MessagesRequest } from './request.ts'

/** What of a route decides how a messages request is sent over it. */
export interface MessagesRoute {
  readonly nativeMessages: boolean
  readonly compatShape: boolean
  /** Whether it can be asked for JSON that follows a schema. */
  readonly jsonSchema: boolean
  /** Whether `cache_control` goes on, as a member of messages, parts, calls and tools. */
  readonly cacheMarks: boolean
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
  const marked = route.cacheMarks && native.cacheControl.size > 0
  const chat = marked ? withMarks(body, native.cacheControl) : body
  const call: JsonObject = {
    ...chat,
    messages: plainMessages(chat.messages as JsonObject[], (i) =>
      failedResults.has((body.messages as JsonObject[])[i] as JsonObject),
    ),
  }
  if (native.disableParallelToolUse && body.tools !== undefined) call.parallel_tool_calls = false
  const dropped: string[] = []
  const policy = {
    unsupported: route.unsupported,
    dropped: (name: string) => void dropped.push(name),
  }
  if (serverTool !== undefined) leaveOut('tools', policy)
  if (native.cacheControl.size > 0 && !marked) leaveOut('cache_control', policy)
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
function plainMessages(
  list: readonly JsonObject[],
  failed: (index: number) => boolean,
): JsonObject[] {
  const plain: JsonObject[] = []
  for (const [index, message] of list.entries()) {
    const before = plain.at(-1)
    const joins = before?.role === 'system' && before.cache_control === undefined
    if (message.role === 'system' && joins) {
      const content = `${before.content}\n\n${message.content}`
      plain[plain.length - 1] = { ...message, content }
    } else if (failed(index)) {
      plain.push({ ...message, content: `Error: ${message.content}` })
    } else if (Array.isArray(message.content)) {
      plain.push({ ...message, content: message.content.map(plainPart) })
    } else {
      plain.push(message)
    }
  }
  return plain
}

/** The call with each `cache_control` on what it marks. */
function withMarks(body: JsonObject, marks: NativeMessages['cacheControl']): JsonObject {
  const at = (place: string) => {
    const mark = marks.get(place)
    return mark === undefined ? {} : { cache_control: mark }
  }
  const each = (list: JsonValue | undefined, place: string) =>
    Array.isArray(list)
      ? list.map((entry, i) => ({ ...(entry as JsonObject), ...at(`${place}.${i}`) }))
      : undefined
  const messages = (body.messages as JsonObject[]).map((message, i) => {
    const place = `messages.${i}`
    const content = each(message.content, `${place}.content`)
    const calls = each(message.tool_calls, `${place}.tool_calls`)
    return {
      ...message,
      ...(content && { content }),
      ...(calls && { tool_calls: calls }),
      ...at(place),
    }
  })
  const tools = each(body.tools, 'tools')
  return { ...body, messages, ...(tools && { tools }) }
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
