import type { HttpCall } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { headersOf, urlOf } from './request.ts'

export interface HttpCallServices {
  readonly bodyLimits: BodyLimits
  /** Where a request comes from. */
  address?(request: Request): string | undefined
  /** Ends a request between whose bytes so many seconds pass; 0: never. */
  limitIdle(request: Request, seconds: number): void
  /** Its reply is a stream, which puts the limit back when it has ended. */
  streams(request: Request): void
  /** Puts the limit on idle time back that `limitIdle` has lifted. */
  limitAgain(request: Request): void
}

/** What stands for the `*` of a path, as a parameter of that name. */
export function restOf(params?: Readonly<Record<string, string>>): Record<string, string> {
  const rest = decoded(params?.['*'])
  return rest === undefined ? {} : { '*': rest }
}

/** The router leaves what stands for `*` as it was sent, and nothing else. */
function decoded(rest: string | undefined): string | undefined {
  try {
    return rest && decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/** A request as plugins see it that serve paths. */
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
