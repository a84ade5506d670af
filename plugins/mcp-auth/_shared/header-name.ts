/** RFC 9110, a token. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/

/** Headers that are reserved for the connection, the protocol or the gateway. */
const TAKEN = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'last-event-id',
  'origin',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-gateway-api-key',
  'x-request-id',
])
const TAKEN_FAMILY = /^(content|mcp|proxy|sec|x-forwarded)-/

/** Why a header must not carry credentials; undefined if it may. */
export function headerNameProblem(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'must be a valid header name'
  const lower = name.toLowerCase()
  if (!TAKEN.has(lower) && !TAKEN_FAMILY.test(lower)) return undefined
  return `${lower} is reserved for the connection, the protocol or the gateway; choose another header`
}
