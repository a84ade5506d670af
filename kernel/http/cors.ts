export interface CorsSettings {
  /** `https://app.example.com`, or `*`. */
  readonly origins: readonly string[]
  /** Request headers that pages may send; absent: those that they ask for. */
  readonly headers?: readonly string[]
  readonly credentials?: boolean
}

/** Lets pages of other origins call, and read what they are answered. */
export interface Cors {
  /** Added to an answer with these headers to this request: pages may read all of them. */
  headers(request: Request, answer: Headers): Readonly<Record<string, string>>
  /** Added to the answer to `OPTIONS`, where `methods` are those of the path. */
  preflight(request: Request, methods: readonly string[]): Readonly<Record<string, string>>
}

const TEN_MINUTES = '600'

export function createCors({ origins, headers, credentials = false }: CorsSettings): Cors {
  const allowed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  const own = headers?.map((name) => name.toLowerCase())

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
    headers(request, answer) {
      const origin = originOf(request)
      if (origin['access-control-allow-origin'] === undefined) return origin
      return { ...origin, 'access-control-expose-headers': [...answer.keys()].join(', ') }
    },
    preflight(request, methods) {
      const origin = originOf(request)
      if (origin['access-control-allow-origin'] === undefined) return origin
      const asked = (request.headers.get('access-control-request-headers') ?? '')
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter((name) => name !== '' && own?.includes(name) !== false)
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
    return forPages(response, call.request, cors)
  }
}

/** The answer as pages of other origins may read it. */
export function forPages(response: Response, request: Request, cors: Cors): Response {
  for (const [name, value] of Object.entries(cors.headers(request, response.headers))) {
    response.headers.set(name, value)
  }
  return response
}
