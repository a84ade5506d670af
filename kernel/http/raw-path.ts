import type { BunRequest } from 'bun'
import { GatewayError } from '../plugin/index.ts'
import { urlOf } from './request.ts'

/** Calls `check` first. */
type Answer = (request: Request, check?: () => void) => Promise<Response>

/** More segments than any path of the gateway has. */
const MOST_SEGMENTS = 16
/** Segments are decoded here: a slash or backslash in one was sent encoded, or as a backslash. */
const DOT_SEGMENT = /(?:^|[\\/])\.{1,2}(?:$|[\\/#])/

/**
 * Routes for `Bun.serve` that lead to `answer`. Paths that were sent with dot segments or backslashes
 * throw `invalid_request`: a proxy may have judged them by how they begin.
 *
 * `request.url` has them resolved, and Bun shows the path as it was sent nowhere else. But it matches
 * routes with it (https://github.com/oven-sh/bun/pull/33096), so that each segment is a parameter
 * here. `literals` are paths that need no check: what matches one of them was sent like that. Should
 * Bun match routes with the resolved path one day (https://github.com/oven-sh/bun/pull/42724), the
 * tests fail.
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
    // Sent as it is, a backslash has become a slash.
    if (segment.includes('\\') && segmentsOf(urlOf(request).pathname) !== count) throw rewritten()
  }
}

/**
 * The same for a request that no such route took. Those are of the root, with an empty segment before
 * the last slash, or with too many segments: none else unless dots took them away. Throws
 * `invalid_request`.
 */
export function refuseRewrittenToFit(request: Request): void {
  const path = urlOf(request).pathname
  if (path === '/') return
  if (!path.includes('//') && segmentsOf(path) <= MOST_SEGMENTS) throw rewritten()
}

/** Without an end slash. */
function segmentsOf(path: string): number {
  return path.replace(/\/$/, '').split('/').length - 1
}

function rewritten(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'the path must not contain . or .. segments (also encoded) or backslashes; send the resolved path',
  )
}
