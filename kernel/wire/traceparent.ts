const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/
/** What the gateway itself sends: version 00. */
const OWN = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/

/** The fields of a `traceparent` header. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** Parses a `traceparent` header; undefined if it is not valid. */
export function parseTraceparent(header: string | null): TraceParent | undefined {
  if (header === null) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  if (version === '00' && more !== undefined) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) !== 0 }
}

/** Returns a `traceparent` for a header, unchanged. Throws if it is not valid. */
export function checkedTraceparent(given: string | undefined): string | undefined {
  if (given === undefined || OWN.test(given)) return given
  throw new Error(`${JSON.stringify(given)} is not a valid traceparent`)
}

/** The caller's `traceparent`, unchanged; undefined if it is not valid. */
export function callersTraceparent(header: (name: string) => string | null): string | undefined {
  const traceparent = header('traceparent')
  return parseTraceparent(traceparent) === undefined ? undefined : (traceparent ?? undefined)
}
