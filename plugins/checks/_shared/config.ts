import { type Problem, Type } from 'model-gateway/plugin'

/** `endpoint_url` of a check, instead of the public endpoint. */
export const endpointUrl = Type.Optional(
  Type.String({
    pattern: '^https?://[^\\s/]+',
    description:
      'Scheme and host of another endpoint, such as a private one. Default: the public endpoint',
  }),
)

export const maxRetries = Type.Integer({
  minimum: 0,
  maximum: 10,
  default: 2,
  description: 'Maximum number of retries of a call, within timeout_ms',
})

/** Problems of an `endpoint_url`, which is optional. */
export function* checkEndpointUrl(value: unknown): Iterable<Problem> {
  if (typeof value !== 'string') return
  const url = URL.parse(value)
  const path = ['endpoint_url']
  if (url === null) {
    yield { path, message: 'is not a URL', hint: 'write it as https://host' }
  } else if (url.username !== '' || url.password !== '') {
    yield { path, message: 'carries credentials', hint: 'move them to auth, as secret references' }
  } else if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    yield { path, message: 'must be only a scheme and a host', hint: `write ${url.origin}` }
  }
}

/** Scheme and host to call, from a checked `endpoint_url` or the public host. */
export function originOf(endpointUrl: string | undefined, host: string): string {
  return endpointUrl === undefined ? `https://${host}` : new URL(endpointUrl).origin
}
