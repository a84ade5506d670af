import { maskCredentials } from '../plugin/key-forms.ts'
import { credentialForms, maskForms } from '../wire/credential-forms.ts'

/** What the headers of an upstream's reply say beside the reply. */
export interface Heard {
  /** Limits, and whether and when to try again: they are passed on. */
  readonly headers: Readonly<Record<string, string>>
  /** What the upstream calls the call. */
  readonly requestId: string | undefined
}

export const nothingHeard: Heard = { headers: {}, requestId: undefined }

const PASSED = /^(?:retry-after(?:-ms)?|x-should-retry|(?:[a-z]+-)?ratelimit(?:-[a-z\d-]{1,64})?)$/
/** In their order; the last is that of a network in front of many services. */
const REQUEST_IDS = [
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'x-goog-request-id',
  'apim-request-id',
  'cf-ray',
]
const VALUE = /^[\w .,:;="+/-]{1,128}$/
/** Numbers and times, which hold no credential. */
const COUNT = /^[\d .,:;=+TZhms-]*$/
/** Headers of each call that hold none either. */
const PUBLIC: ReadonlySet<string> = new Set(['accept', 'content-type', 'traceparent', 'user-agent'])
const MAX_PASSED = 32

/** `sent`: headers that the call was sent with; what repeats one of them is not passed on. */
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
  // All at once: to go through them one by one costs several times as much.
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
