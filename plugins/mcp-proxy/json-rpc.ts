import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import {
  keyInTwoCases,
  knownInOtherCase,
  parseExact,
  repeatedMember,
  repeatsKey,
  skipSpace,
  visitJson,
} from 'model-gateway/wire'
import { exact, isId, memberText, type RpcId } from './rpc-id.ts'

/** Error codes of JSON-RPC and MCP, and one from the implementation-defined range. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  sessionNotFound: -32001,
  gateway: -32000,
} as const

const members: ReadonlySet<string> = new Set([
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
])
/** Members of the `params` of a `tools/call` that policy reads. */
const callMembers: ReadonlySet<string> = new Set(['name', 'arguments'])
const noMembers: ReadonlySet<string> = new Set()

/** Whether a case-insensitive parser would find other members in a message or a batch. */
export function misspellsMember(value: JsonValue): boolean {
  const messages = Array.isArray(value) ? value : [value]
  return messages.some(
    (message) =>
      isJsonObject(message) &&
      Object.keys(message).some((key) => knownInOtherCase(key, members) !== undefined),
  )
}

/** A message that cannot be passed on. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A message of a caller: the text, which is forwarded, and a parsed copy. */
export interface RpcMessage {
  readonly kind: 'request' | 'notification' | 'response'
  readonly text: string
  /** Undefined for notifications. */
  readonly id: RpcId | undefined
  /** As it stands in the text. */
  readonly idText: string
  readonly method: string | undefined
  readonly params: JsonValue | undefined
  /** The position of `params.arguments` in the text. */
  readonly argumentsPlace: Place | undefined
  /**
   * What is wrong if a member of the message or its `params` occurs twice, or if a member that
   * policy reads is written in another case.
   */
  readonly ambiguity: string | undefined
}

interface Place {
  readonly from: number
  readonly to: number
}

/** Parses one message. Throws RpcFault for invalid JSON, batches and invalid messages. */
export function readMessage(text: string): RpcMessage {
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch {
    throw new RpcFault(rpcCodes.parse, 'the body is not valid JSON')
  }
  if (Array.isArray(value)) {
    throw new RpcFault(rpcCodes.invalidRequest, 'batches are not supported; send one message')
  }
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') {
    throw new RpcFault(rpcCodes.invalidRequest, 'the body is not a JSON-RPC 2.0 message')
  }
  const { id, method, params } = value
  const hasId = 'id' in value
  if (hasId && !isId(id)) {
    const isAnonymousError = id === null && 'error' in value && method === undefined
    if (!isAnonymousError) {
      throw new RpcFault(rpcCodes.invalidRequest, 'id: must be a string or a number')
    }
  }
  if (
    method !== undefined ? typeof method !== 'string' : !('result' in value || 'error' in value)
  ) {
    throw new RpcFault(
      rpcCodes.invalidRequest,
      'the body is not a request, a notification or a response',
    )
  }
  let idText = 'null'
  let paramsAt = 0
  let argumentsPlace: Place | undefined
  let ambiguity: string | undefined
  const seen = new Set<string>()
  const note = (path: string, key: string | number, known: ReadonlySet<string>) => {
    const place = `${path}${key}`.slice(0, 128)
    const right = knownInOtherCase(String(key), known)
    if (seen.has(place)) ambiguity ??= `${place}: occurs twice in the message; send it once`
    else if (right !== undefined) ambiguity ??= `${place}: must be written ${right}`
    seen.add(place)
  }
  visitJson(text, skipSpace(text, 0), (key, from, to) => {
    note('', key, members)
    if (key === 'id') idText = text.slice(from, to)
    else if (key === 'params') paramsAt = from
  })
  if (isJsonObject(params)) {
    const known = method === 'tools/call' ? callMembers : noMembers
    visitJson(text, paramsAt, (key, from, to) => {
      note('params.', key, known)
      if (key === 'arguments') argumentsPlace = { from, to }
    })
  }
  return {
    kind: method === undefined ? 'response' : hasId ? 'request' : 'notification',
    text,
    id: exact(id, idText) as RpcId | undefined,
    idText,
    method: method as string | undefined,
    params,
    argumentsPlace,
    ambiguity,
  }
}

/** A `tools/call`, which may be invalid. */
export interface ToolCall {
  /** Empty if the call has no tool name. */
  readonly tool: string
  readonly arguments: JsonValue | undefined
  /** The position of the arguments in the message; undefined without arguments. */
  readonly place: Place | undefined
}

/** The tool call in a message; undefined for other messages. */
export function toolCallOf({ method, params, argumentsPlace }: RpcMessage): ToolCall | undefined {
  if (method !== 'tools/call') return undefined
  const { name = undefined, arguments: args = undefined } = isJsonObject(params) ? params : {}
  return { tool: typeof name === 'string' ? name : '', arguments: args, place: argumentsPlace }
}

/** The member of `params` that the header `Mcp-Name` repeats. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Ambiguities through which the server, or a proxy in front of it, could read another message than
 * the gateway: duplicate members that policy reads, and headers that contradict the body.
 * `guarded`: a policy reads the arguments, so that their members must not differ only in case.
 */
export function faultOf(
  message: RpcMessage,
  call: ToolCall | undefined,
  header: (name: string) => string | null,
  guarded: boolean,
): RpcFault | undefined {
  const ambiguity = message.ambiguity ?? (call && ambiguousArguments(message.text, call, guarded))
  if (ambiguity !== undefined) return new RpcFault(rpcCodes.invalidRequest, ambiguity)
  if (call !== undefined) {
    if (message.id === undefined) {
      return new RpcFault(rpcCodes.invalidRequest, 'tools/call: must have an id')
    }
    if (call.tool === '') {
      return new RpcFault(rpcCodes.invalidParams, 'params.name: must be the name of a tool')
    }
    const name = call.tool.trim()
    if (name !== call.tool) {
      const how = `params.name: must not begin or end with spaces; write ${JSON.stringify(name)}`
      return new RpcFault(rpcCodes.invalidParams, how)
    }
  }
  const { method } = message
  if (method === undefined) return undefined
  const methodHeader = header('mcp-method')
  if (methodHeader !== null && methodHeader !== method) {
    return new RpcFault(rpcCodes.headerMismatch, 'Mcp-Method: must be the method of the body')
  }
  const member = named[method]
  const nameHeader = header('mcp-name')
  if (nameHeader === null || member === undefined) return undefined
  const value = isJsonObject(message.params) ? message.params[member] : undefined
  return value === decodeHeader(nameHeader)
    ? undefined
    : new RpcFault(rpcCodes.headerMismatch, `Mcp-Name: must be params.${member} of the body`)
}

function ambiguousArguments(text: string, call: ToolCall, guarded: boolean): string | undefined {
  const { place, arguments: args } = call
  if (place === undefined || args === undefined) return undefined
  if (repeatsKey(text, place.from, args)) {
    const name = repeatedMember(text, place.from) ?? 'a member'
    return `params.arguments: ${name} occurs twice in the same object; send it once`
  }
  const twin = guarded ? keyInTwoCases(args) : undefined
  return (
    twin &&
    `params.arguments: ${twin} occurs twice in the same object, in different case; send it once`
  )
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** Values that are not allowed in headers are sent as Base64 of their UTF-8. */
export function decodeHeader(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1]
  if (encoded === undefined) return value
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const PLAIN = /^(?!=\?base64\?)[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

export function encodeHeader(value: string): string {
  return PLAIN.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** The id of the call that this message cancels; undefined for any other message. */
export function cancelledId({ method, params, text }: RpcMessage): RpcId | undefined {
  if (method !== 'notifications/cancelled' || !isJsonObject(params)) return undefined
  const written = memberText(text, skipSpace(text, 0), 'params')
  const id = exact(params.requestId, memberText(written, 0, 'requestId'))
  return isId(id) ? id : undefined
}

/** The message with other arguments; the rest of the text is unchanged. */
export function withArguments({ text }: RpcMessage, call: ToolCall, args: string): string {
  const { place } = call
  return place === undefined ? text : text.slice(0, place.from) + args + text.slice(place.to)
}
