export interface CorsSettings {
  /** `https://app.example.com`, or `*`. */
  readonly origins: readonly string[]
  /** Request headers that pages may send, beside those of the APIs. */
  readonly headers?: readonly string[]
  readonly credentials?: boolean
}

/** Lets pages of other origins call, and read what they are answered. */
export interface Cors {
  /** Added to an answer to this request. */
  headers(request: Request): Readonly<Record<string, string>>
  /** Added to the answer to `OPTIONS`, where `methods` are those of the path. */
  preflight(request: Request, methods: readonly string[]): Readonly<Record<string, string>>
}

/** What official clients of the APIs send. */
const USUAL_HEADERS = [
  'authorization',
  'content-type',
  'x-api-key',
  'x-request-id',
  'anthropic-version',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'openai-organization',
  'openai-project',
]
const EXPOSED = [
  'request-id',
  'retry-after',
  'x-gateway-dropped',
  'x-request-id',
  'x-should-retry',
  'x-upstream-request-id',
].join(', ')
const TEN_MINUTES = '600'

export function createCors({ origins, headers = [], credentials = false }: CorsSettings): Cors {
  const allowed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  const own = [...USUAL_HEADERS, ...headers.map((name) => name.toLowerCase())]

  function originOf(request: Request): Readonly<Record<string, string>> {
    const origin = request.headers.get('origin')
    const isAllowed = origin !== null && (allowed.has('*') || allowed.has(origin.toLowerCase()))
    if (!isAllowed) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': allowed.has('*') ? '*' : origin,
      ...(credentials && { 'access-control-allow-credentials': 'true' }),
    }
  }

  return {
    headers(request) {
      const origin = originOf(request)
      if (origin['access-control-allow-origin'] === undefined) return origin
      return { ...origin, 'access-control-expose-headers': EXPOSED }
    },
    preflight(request, methods) {
      const origin = originOf(request)
      if (origin['access-control-allow-origin'] === undefined) return origin
      // Clients add headers of their own, which say nothing of who asks: `x-stainless-os`.
      const asked = (request.headers.get('access-control-request-headers') ?? '')
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter((name) => own.includes(name) || name.startsWith('x-stainless-'))
      return {
        ...origin,
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': asked.join(', '),
        'access-control-max-age': TEN_MINUTES,
      }
    },
  }
}

/** The answers as pages of other origins may read them. */
export function shared<T extends { request: Request }>(
  serve: (call: T) => Promise<Response>,
  cors: Cors,
): (call: T) => Promise<Response> {
  return async (call) => {
    const response = await serve(call)
    for (const [name, value] of Object.entries(cors.headers(call.request))) {
      response.headers.set(name, value)
    }
    return response
  }
}
