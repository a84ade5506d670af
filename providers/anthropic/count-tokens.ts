import type { ProviderCall } from 'model-gateway/provider'
import { withBetas } from '../_shared/betas.ts'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import type { CountRequest } from '../_shared/count-tokens.ts'
import { type NativeRoute, nativeRequest } from '../_shared/messages-native.ts'

/** Members of a messages request that token counting refuses. */
const ANSWER_ONLY: ReadonlySet<string> = new Set([
  ...['container', 'inference_geo', 'max_tokens', 'metadata', 'service_tier', 'stop_sequences'],
  ...['stream', 'temperature', 'top_k', 'top_p'],
])

/**
 * Anthropic's token counter, which accepts the prompt of a messages call with its betas:
 * https://docs.claude.com/en/api/messages-count-tokens
 */
export function countRequest(
  endpoint: CompatEndpoint,
  route: NativeRoute,
): (call: ProviderCall) => CountRequest {
  const extraBody = Object.fromEntries(
    Object.entries(route.extraBody).filter(([name]) => !ANSWER_ONLY.has(name)),
  )
  return (call) => {
    const { body, betas } = nativeRequest({ ...route, extraBody }, call)
    for (const name of ANSWER_ONLY) if (body.get(name) !== undefined) body.remove(name)
    return { endpoint: withBetas(endpoint, betas), text: body.text() }
  }
}
