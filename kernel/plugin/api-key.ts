import { GatewayError } from './errors.ts'

const KEY_PREFIX = 'gwk_'
const BEARER = /^bearer +(\S+) *$/i

/**
 * Returns the gateway key from the headers of a request. Clients often send a dummy value in one
 * header and the real key in another, so once a value starts with `gwk_`, only such values count.
 */
export function presentedKey(
  header: (name: string) => string | null,
  /** Headers that may contain a key, in addition to `Authorization`. */
  names: readonly string[] = ['x-api-key', 'x-gateway-api-key'],
): string {
  const authorization = header('authorization') || null
  const others = names.map((name) => header(name) || null)
  const bearer = authorization === null ? undefined : BEARER.exec(authorization)?.[1]

  let key: string | undefined
  for (const value of [bearer, ...others]) {
    if (!value?.startsWith(KEY_PREFIX)) continue
    if (key !== undefined && key !== value) {
      throw new GatewayError(
        'conflicting_api_key_headers',
        'the request carries two different API keys; send one',
      )
    }
    key = value
  }
  if (key !== undefined) return key

  const isAlone = others.every((value) => value === null)
  if (authorization === null && isAlone) {
    throw new GatewayError(
      'missing_authorization_header',
      `no API key: send ${["'Authorization: Bearer gwk_…'", ...names.slice(0, -1)].join(', ')} or ${names.at(-1)}`,
    )
  }
  if (authorization !== null && bearer === undefined && isAlone) {
    throw new GatewayError(
      'invalid_authorization_header',
      "the Authorization header must be 'Bearer gwk_…'",
    )
  }
  throw new GatewayError('invalid_api_key_format', "an API key of this gateway starts with 'gwk_'")
}

/** A revoked key is refused after a second at most. */
const REVOKED_MS = 1000

/** Whether to check a key again after the body arrived, which can take half a minute. */
export function mayBeRevoked({ receivedAt }: { readonly receivedAt: Date }): boolean {
  return Date.now() - receivedAt.getTime() >= REVOKED_MS
}
