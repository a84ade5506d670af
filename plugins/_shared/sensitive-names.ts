/** Names whose values are secrets. They match in any case, and `-` and `_` do not count. */
const sensitiveNames = [
  'token',
  'access_token',
  'refresh_token',
  'api_key',
  'x_api_key',
  'client_secret',
  'credentials',
  'private_key',
  'secret',
  'password',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'anthropic-api-key',
  'x-goog-api-key',
  'x-gateway-api-key',
]

/** Further parameters of signed URLs. */
const signedUrlNames = [
  'sig',
  'signature',
  'key',
  'x-amz-signature',
  'x-amz-credential',
  'x-amz-security-token',
  'x-goog-signature',
  'x-goog-credential',
]

/** What the name of a header holds when its value is better not kept. */
const HEADER = /auth|cookie|token|secret|password|credential|apikey|signature|jwt|assertion/

/** The form in which names are compared. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

const sensitive: ReadonlySet<string> = new Set(sensitiveNames.map(normalName))
const signed: ReadonlySet<string> = new Set([...sensitive, ...signedUrlNames.map(normalName)])

export const isSensitiveKey = (name: string): boolean => sensitive.has(normalName(name))
export const isSensitiveHeader = (name: string): boolean => HEADER.test(normalName(name))
export const isSensitiveParameter = (name: string): boolean => signed.has(normalName(name))

/** Source of a regular expression, to be used with `i`, for any of the sensitive keys. */
export const sensitiveKeyPattern = [...new Set(sensitiveNames.map(normalName))]
  .map((name) => [...name].join('[-_]?'))
  .join('|')
