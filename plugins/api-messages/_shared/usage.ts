import type { JsonObject } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'

/**
 * Cached input is counted separately from `input_tokens`. Missing counters are 0, because the API
 * requires them.
 */
export function messagesUsage(usage: Usage | undefined): JsonObject {
  const { uncachedInput = 0, output = 0, cacheRead, cacheWrite } = usage ?? {}
  return {
    input_tokens: uncachedInput,
    output_tokens: output,
    ...(cacheWrite === undefined ? {} : { cache_creation_input_tokens: cacheWrite }),
    ...(cacheRead === undefined ? {} : { cache_read_input_tokens: cacheRead }),
  }
}
