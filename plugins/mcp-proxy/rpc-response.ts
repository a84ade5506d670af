import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isTooDeep } from 'model-gateway/wire'

/** An error reply; `idText` is JSON. */
export function rpcErrorText(
  idText: string,
  error: { readonly code: number; readonly message: string; readonly data?: JsonObject },
): string {
  return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}}`
}

/** The responses in a server's JSON: one message or a batch. */
export function responsesIn(value: JsonValue): readonly JsonObject[] {
  return messagesIn(value).filter(isResponse)
}

/**
 * Messages that may contain a result: responses, and task notifications, which have the result that
 * `tasks/get` would return.
 */
export function resultsIn(value: JsonValue): readonly JsonObject[] {
  return messagesIn(value).filter((message) => isResponse(message) || isTaskNotice(message))
}

export function isResponse(message: JsonObject): boolean {
  return 'result' in message || 'error' in message
}

function isTaskNotice({ method }: JsonObject): boolean {
  return typeof method === 'string' && /^notifications\/tasks(?:\/|$)/.test(method)
}

function messagesIn(value: JsonValue): readonly JsonObject[] {
  const messages = Array.isArray(value) ? value : [value]
  return messages.filter((message): message is JsonObject => isJsonObject(message))
}

/** The outcome of a call, from its response. */
export function statusOf(response: JsonObject): 'success' | 'tool_error' | 'upstream_error' {
  if (!('result' in response)) return 'upstream_error'
  return isJsonObject(response.result) && response.result.isError === true
    ? 'tool_error'
    : 'success'
}

/** The error code of a response: `jsonrpc_-32602`. */
export function errorCodeOf({ error }: JsonObject): string | undefined {
  if (!isJsonObject(error)) return undefined
  return Number.isInteger(error.code) ? `jsonrpc_${error.code as number}` : 'jsonrpc'
}

/** Characters of a schema per token; a rough estimate. */
const BYTES_PER_TOKEN = 4

/**
 * The number of tools in a `tools/list` result, and their tokens in a model's context. Undefined
 * without tools, or if the result is nested too deeply to serialise.
 */
export function toolOverhead(response: JsonObject): { tools: number; tokens: number } | undefined {
  const tools = isJsonObject(response.result) ? response.result.tools : undefined
  if (!Array.isArray(tools) || isTooDeep(tools)) return undefined
  const utf8 = new TextEncoder()
  let tokens = 0
  for (const tool of tools) {
    if (!isJsonObject(tool)) continue
    const { name, description, inputSchema } = tool
    const bytes = utf8.encode(JSON.stringify({ name, description, inputSchema })).byteLength
    tokens += Math.ceil(bytes / BYTES_PER_TOKEN)
  }
  return { tools: tools.length, tokens }
}
