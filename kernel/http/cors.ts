import { requestIdOf } from './request-id.ts'

export interface CorsSettings {
  /** Origins as browsers send them; `*` allows any. */
  readonly origins: readonly string[]
  /** Request headers that pages may send; `*` allows any. */
  readonly headers: readonly string[]
  readonly credentials: boolean
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** In seconds; some browsers cap it at this value. */
const MAX_AGE = 600

/** Lets pages of other origins call the gateway and read replies. */
export function createCors({ origins, headers, credentials }: CorsSettings) {
  const anyOrigin = origins.includes('*')
  const anyHeader = headers.includes('*')
  const takes = (origin: string | null) =>
    origin !== null && (anyOrigin || origins.includes(origin))

  return {
    /** The reply to a CORS preflight; undefined for other requests. */
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
    /** Adds the headers that let the page read a reply with all its headers. */
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
