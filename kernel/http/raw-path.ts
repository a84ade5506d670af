import type { BunRequest } from 'bun'

type Handler = (request: Request) => Response | Promise<Response>

/** More segments than any path of the gateway has. */
const MOST_SEGMENTS = 12
/** `.` and `..`, also before a fragment, and what the URL parser takes for a slash. */
const DOTS = /^\.{1,2}(?:$|#)|\\/

/**
 * Routes for `Bun.serve` that hand every request to `answer`, except those whose path has dot
 * segments, encoded or not: `dots` answers them. `request.url` has them resolved already, but routes
 * are matched on the path as it was sent (oven-sh/bun#33096), so that a segment is a parameter here.
 */
export function routesWithoutDots(answer: Handler, dots: Handler) {
  const routes: Record<string, (request: BunRequest<string>) => Response | Promise<Response>> = {}
  const check = (request: BunRequest<string>) => {
    const isDotted = Object.values(request.params).some((segment) => DOTS.test(segment))
    return isDotted ? dots(request) : answer(request)
  }
  let path = ''
  for (let n = 1; n <= MOST_SEGMENTS; n++) {
    path += `/:s${n}`
    routes[path] = check
    routes[`${path}/`] = check
  }
  return routes
}

/**
 * Whether the path of a request that no such route took has lost dot segments: it would have been
 * taken as it is.
 */
export function hasLostDots(request: Request): boolean {
  const pathname = /^[^/]*\/\/[^/?]*(\/[^?]*)/.exec(request.url)?.[1] ?? '/'
  if (pathname === '/' || pathname.includes('//')) return false
  return pathname.split('/').length - 1 <= MOST_SEGMENTS
}
