import type { JsonValue, Problem } from 'model-gateway/plugin'

/** Problems of a provider's base URL. A missing URL has none. */
export function* checkBaseUrl(
  value: JsonValue | undefined,
  field: 'base_url' | 'endpoint' = 'base_url',
): Iterable<Problem> {
  const url = typeof value === 'string' ? URL.parse(value) : undefined
  if (url === undefined) return
  const path = [field]
  if (url === null) {
    yield { path, message: 'is not a URL', hint: 'write it like https://host/v1' }
    return
  }
  if (url.username !== '' || url.password !== '') {
    yield {
      path,
      message: 'carries credentials',
      hint: 'move them to auth, as a secret reference',
    }
  }
  if (url.search !== '' || url.hash !== '') {
    yield { path, message: 'has a query or a fragment', hint: 'end it with the path, such as /v1' }
  }
  if (/\/(chat\/completions|responses|embeddings|messages)\/?$/.test(url.pathname)) {
    yield {
      path,
      message: 'ends with the path of a call, which the gateway appends',
      hint: 'remove that path, so that it ends with /v1 or similar',
      severity: 'warning',
    }
  }
}

/** Whether the URL's host is this machine, where plain http is safe. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
