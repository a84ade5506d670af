import { requestIdOf } from './request-id.ts'

export interface CorsSettings {
  /** As browsers send them; `*` is any. */
  readonly origins: readonly string[]
  /** What pages may send; `*` is any. */
  readonly headers: readonly string[]
  readonly credentials: boolean
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** Seconds; some browsers keep no answer for longer. */
const MAX_AGE = 600

/** Lets pages of other origins send requests and read the replies. */
export function createCors({ origins, headers, credentials }: CorsSettings) {
  const anyOrigin = origins.includes('*')
  const anyHeader = headers.includes('*')
  const takes = (origin: string | null) =>
    origin !== null && (anyOrigin || origins.includes(origin))

  return {
    /** What a browser is told that asks first; undefined for every other request. */
    preflight(request: Request): Response | undefined {
      const { method, headers: sent } = request
      const asks = method === 'OPTIONS' && sent.has('access-control-request-method')
      if (!asks || !takes(sent.get('origin'))) return undefined
      const wanted = sent.get('access-control-request-headers') ?? ''
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': anyHeader ? wanted : headers.join(', '),
          'access-control-max-age': String(MAX_AGE),
          vary: 'access-control-request-headers',
          'x-request-id': requestIdOf(sent),
        },
      })
    },
    /** Lets the page read a reply, with all of its headers. */
    open({ headers: sent }: Request, { headers: reply }: Response): void {
      reply.append('vary', 'origin')
      const origin = sent.get('origin')
      if (origin === null || !takes(origin)) return
      const exposed = [...reply.keys()].filter((name) => name !== 'set-cookie')
      reply.set('access-control-expose-headers', exposed.join(', '))
      reply.set('access-control-allow-origin', anyOrigin ? '*' : origin)
      if (credentials) reply.set('access-control-allow-credentials', 'true')
    },
  }
}
