import type { JsonObject } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'

/** Cached input stands beside `input_tokens`. Counters that nobody stated are 0, as they must be. */
export function messagesUsage(usage: Usage | undefined): JsonObject {
  const { uncachedInput = 0, output = 0, cacheRead, cacheWrite } = usage ?? {}
  return {
    input_tokens: uncachedInput,
    output_tokens: output,
    ...(cacheWrite === undefined ? {} : { cache_creation_input_tokens: cacheWrite }),
    ...(cacheRead === undefined ? {} : { cache_read_input_tokens: cacheRead }),
  }
}
