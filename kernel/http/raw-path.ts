import type { BunRequest } from 'bun'
import { GatewayError } from '../plugin/index.ts'
import { urlOf } from './request.ts'

/** Calls `check` first. */
type Answer = (request: Request, check?: () => void) => Promise<Response>

/** More segments than any path of the gateway. */
const MOST_SEGMENTS = 16
/** Bun has decoded the segments: a slash or backslash in one was encoded or a backslash. */
const DOT_SEGMENT = /(?:^|[\\/])\.{1,2}(?:$|[\\/#])/

/**
 * Routes for `Bun.serve` that call `answer`. Paths sent with dot segments or backslashes throw
 * `invalid_request`, because a proxy in front may have judged the path before it was resolved.
 * `request.url` is already resolved, and Bun shows the raw path nowhere else, but it matches routes
 * against the raw path (https://github.com/oven-sh/bun/pull/33096); so each segment is a parameter
 * here. `literals` are paths without such segments, which need no check. If Bun matches routes
 * against the resolved path one day (https://github.com/oven-sh/bun/pull/42724), the tests fail.
 */
export function routesByRawPath(literals: readonly string[], answer: Answer) {
  const routes: Record<string, (request: BunRequest<string>) => Promise<Response>> = {}
  let path = ''
  for (let count = 1; count <= MOST_SEGMENTS; count++) {
    path += `/:s${count}`
    const check = (request: BunRequest<string>) =>
      answer(request, () => refuseRewritten(request, count))
    routes[path] = check
    routes[`${path}/`] = check
  }
  for (const literal of literals) routes[literal] = (request) => answer(request)
  return routes
}

/** Throws `invalid_request`. */
function refuseRewritten(request: BunRequest<string>, count: number): void {
  for (const segment of Object.values(request.params)) {
    if (DOT_SEGMENT.test(segment)) throw rewritten()
    // Bun turns an unencoded backslash into a slash.
    if (segment.includes('\\') && segmentsOf(urlOf(request).pathname) !== count) throw rewritten()
  }
}

/**
 * The same check for a request that matched no route: the root, a path with an empty segment, or
 * one with too many. Any other path got here by dot segments. Throws `invalid_request`.
 */
export function refuseRewrittenToFit(request: Request): void {
  const path = urlOf(request).pathname
  if (path === '/') return
  if (!path.includes('//') && segmentsOf(path) <= MOST_SEGMENTS) throw rewritten()
}

/** Without trailing slash. */
function segmentsOf(path: string): number {
  return path.replace(/\/$/, '').split('/').length - 1
}

function rewritten(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'the path must not contain . or .. segments (also encoded) or backslashes; send the resolved path',
  )
}
