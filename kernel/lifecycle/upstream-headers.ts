import { maskCredentials } from '../plugin/key-forms.ts'
import { credentialForms, maskForms } from '../wire/credential-forms.ts'

/** Facts from the response headers of an upstream. */
export interface Heard {
  /** Rate limits and retry hints, which are passed on. */
  readonly headers: Readonly<Record<string, string>>
  /** The request id of the upstream. */
  readonly requestId: string | undefined
}

export const nothingHeard: Heard = { headers: {}, requestId: undefined }

const PASSED = /^(?:retry-after(?:-ms)?|x-should-retry|(?:[a-z]+-)?ratelimit(?:-[a-z\d-]{1,64})?)$/
/** In order of preference; the last one is from a network in front of many services. */
const REQUEST_IDS = [
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'x-goog-request-id',
  'apim-request-id',
  'cf-ray',
]
const VALUE = /^[\w .,:;="+/-]{1,128}$/
/** Numbers and times, which contain no credentials. */
const COUNT = /^[\d .,:;=+TZhms-]*$/
/** Headers of each call that contain no credentials. */
const PUBLIC: ReadonlySet<string> = new Set(['accept', 'content-type', 'traceparent', 'user-agent'])
const MAX_PASSED = 32

/** `sent`: headers of the call; values that repeat one of them are not passed on. */
export function readUpstreamHeaders(
  headers: Headers,
  sent: Readonly<Record<string, string>>,
  ownId: string,
): Heard {
  let forms: readonly string[] | undefined
  const mayPass = (value: string) => {
    if (!VALUE.test(value)) return false
    if (COUNT.test(value)) return true
    forms ??= credentialForms(
      Object.entries(sent).flatMap(([name, held]) => (PUBLIC.has(name) ? [] : [held])),
    )
    return maskCredentials(value) === value && maskForms(value, forms) === value
  }
  // Read all at once, because iterating over headers costs several times as much.
  const all: Readonly<Record<string, string>> = headers.toJSON()
  let passed: Record<string, string> | undefined
  let count = 0
  for (const name in all) {
    const value = all[name]
    if (value === undefined || count >= MAX_PASSED) continue
    if (!PASSED.test(name) || !mayPass(value)) continue
    passed ??= {}
    passed[name] = value
    count++
  }
  const requestId = REQUEST_IDS.map((name) => all[name]).find(
    (id) => id !== undefined && id !== ownId && mayPass(id),
  )
  if (passed === undefined && requestId === undefined) return nothingHeard
  return { headers: passed ?? {}, requestId }
}
