import { GatewayError, inTime } from 'model-gateway/plugin'
import type { McpGatewayAuthMode, McpServer } from './contract.ts'
import type { McpWatch } from './watch.ts'

const DEADLINE_MS = 10_000

/**
 * The headers that an auth mode adds to a call. Rejects if the mode hangs or returns invalid
 * headers, because a call without its credential must not be sent. Errors quote nothing of the
 * headers.
 */
export async function authHeadersOf(
  mode: McpGatewayAuthMode,
  server: McpServer,
  watch: McpWatch,
): Promise<Readonly<Record<string, string>>> {
  let headers: unknown
  try {
    const given: unknown = mode.headers(server, watch.upstream.signal)
    headers = given instanceof Promise ? await watched(given, mode, watch) : given
  } catch (cause) {
    if (cause instanceof GatewayError || watch.upstream.signal.aborted) throw cause
    throw new Error(`the auth mode ${mode.mode} failed`, { cause })
  }
  if (!areHeaders(headers))
    throw new Error(`the auth mode ${mode.mode} did not return valid headers`)
  return headers
}

async function watched(work: Promise<unknown>, { mode }: McpGatewayAuthMode, watch: McpWatch) {
  const { signal } = watch.upstream
  watch.limit(
    DEADLINE_MS,
    () => new Error(`the auth mode ${mode} did not return headers within ${DEADLINE_MS} ms`),
  )
  try {
    const done = await inTime(work, signal)
    if (done === undefined) throw signal.reason
    return done.value
  } finally {
    watch.lift()
  }
}

function areHeaders(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  const parts: unknown[] = Object.values(value)
  if (parts.length === 0) return true
  if (!parts.every((part) => typeof part === 'string')) return false
  try {
    new Headers(value as Record<string, string>)
    return true
  } catch {
    return false
  }
}
