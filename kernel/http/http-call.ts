import type { HttpCall } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { headersOf, urlOf } from './request.ts'

export interface HttpCallServices {
  readonly bodyLimits: BodyLimits
  /** Where a request comes from. */
  address?(request: Request): string | undefined
  /** Sets the idle limit of a request's connection, in seconds; 0: none. */
  limitIdle(request: Request, seconds: number): void
  /** Marks the reply as a stream, which restores the idle limit when it ends. */
  streams(request: Request): void
  /** Restores the idle limit that `limitIdle` removed. */
  limitAgain(request: Request): void
}

/** The parameter that holds what `*` matched. */
export function restOf(params?: Readonly<Record<string, string>>): Record<string, string> {
  const rest = decoded(params?.['*'])
  return rest === undefined ? {} : { '*': rest }
}

/** The router decodes all parameters except `*`. */
function decoded(rest: string | undefined): string | undefined {
  try {
    return rest && decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/** The request that plugins with HTTP routes receive. */
export function callOf(
  request: Request,
  params: Readonly<Record<string, string>>,
  requestId: string,
  services: HttpCallServices,
): HttpCall {
  let all: Record<string, string> | undefined
  const keepOpen = () => services.limitIdle(request, 0)
  return {
    request,
    params,
    requestId,
    url: () => urlOf(request),
    receivedAt: new Date(),
    header: (name) => request.headers.get(name),
    headers() {
      all ??= headersOf(request.headers)
      return all
    },
    address: () => services.address?.(request),
    async text(maxBytes) {
      const { bodyLimits } = services
      const text = await readBody(request, {
        ...bodyLimits,
        maxBytes: Math.min(maxBytes ?? bodyLimits.maxBytes, bodyLimits.maxBytes),
      })
      keepOpen()
      return text
    },
    keepOpen,
    streams() {
      services.streams(request)
      return () => services.limitAgain(request)
    },
  }
}
