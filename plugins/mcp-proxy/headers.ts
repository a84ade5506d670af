import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { DEEPEST_JSON } from 'model-gateway/wire'
import type { McpIncoming } from './exchange.ts'
import { decodeHeader, encodeHeader } from './json-rpc.ts'

/** Headers of the caller that are forwarded to a server. */
const requestNames = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'traceparent',
  'tracestate',
  'user-agent',
] as const
const PARAMETER_PREFIX = 'mcp-param-'

/** Headers of a server that are forwarded to the caller. */
const responseNames = [
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'allow',
  'retry-after',
  'x-accel-buffering',
] as const

/** The headers of the call: the forwarded ones of the caller, then the gateway's own. */
export function requestHeaders(
  { headers: from, requestId }: Pick<McpIncoming, 'headers' | 'requestId'>,
  traceparent: string | undefined,
  authHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of requestNames) {
    const value = from[name]
    if (value !== undefined) headers[name] = value
  }
  for (const name in from) {
    if (name.startsWith(PARAMETER_PREFIX)) headers[name] = from[name] as string
  }
  for (const name of connectionOptions(from.connection)) delete headers[name]
  if (traceparent !== undefined) {
    headers.traceparent = traceparent
    // Drop `tracestate` if `traceparent` was invalid, because a new trace has begun.
    const traceId = traceparent.slice(3, 35)
    if (from.traceparent?.includes(traceId) !== true) delete headers.tracestate
  }
  Object.assign(headers, authHeaders)
  headers['x-request-id'] = requestId
  return headers
}

/**
 * The caller's headers after a guard has changed the arguments. In the protocol version without a
 * handshake some headers repeat arguments. A header that matches no old argument is dropped,
 * because it may contain what the guard removed.
 */
export function withChangedArguments(
  from: Readonly<Record<string, string>>,
  before: JsonValue | undefined,
  after: JsonValue,
): Record<string, string> {
  const texts = new Map<string, string | undefined>()
  pairTexts(before, after, texts, DEEPEST_JSON)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(from)) {
    const passed = name.startsWith(PARAMETER_PREFIX) ? changedHeader(value, texts) : value
    if (passed !== undefined) headers[name] = passed
  }
  return headers
}

function changedHeader(value: string, texts: ReadonlyMap<string, string | undefined>) {
  const old = decodeHeader(value)
  const text = old === undefined ? undefined : texts.get(old)
  if (text === undefined) return undefined
  return text === old ? value : encodeHeader(text)
}

/**
 * The new value of each text or number in the arguments; of two equal ones, the changed one counts.
 */
function pairTexts(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  texts: Map<string, string | undefined>,
  levels: number,
): void {
  if (isJsonObject(before)) {
    if (levels === 0) return
    for (const [name, value] of Object.entries(before)) {
      pairTexts(value, isJsonObject(after) ? after[name] : undefined, texts, levels - 1)
    }
  } else {
    const old = scalarText(before)
    if (old === undefined || (texts.has(old) && texts.get(old) !== old)) return
    texts.set(old, scalarText(after))
  }
}

function scalarText(value: JsonValue | undefined): string | undefined {
  if (JSON.isRawJSON(value)) return value.rawJSON
  return typeof value === 'object' ? undefined : value?.toString()
}

/** Hop-by-hop headers. */
function connectionOptions(connection: string | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive') return []
  return connection.split(',').map((name) => name.trim().toLowerCase())
}

export function responseHeaders(headers: Headers): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of responseNames) {
    const value = headers.get(name)
    if (value !== null) passed[name] = value
  }
  return passed
}

/** `application/json` of `Application/JSON; charset=utf-8`. */
export function essence(contentType: string | null): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase()
}

/** Whether every client reads a body of this type as UTF-8, as the gateway does. */
export function isUtf8(contentType: string | null): boolean {
  if (contentType === 'application/json') return true
  const charsets = contentType?.toLowerCase().match(/charset\s*=\s*"?[^\s;"]*/g) ?? []
  return charsets.every((charset) => /=\s*"?utf-?8$/.test(charset))
}
