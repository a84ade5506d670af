import type { JsonObject } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'

/**
 * `usageMetadata`: thinking tokens are counted separately from candidates. Missing counters are
 * left out.
 */
export function usageMetadata(usage: Usage | undefined): JsonObject | undefined {
  if (usage === undefined) return undefined
  const { promptTokens, cacheRead, output, reasoning, totalTokens } = usage
  return {
    ...(promptTokens !== undefined && { promptTokenCount: promptTokens }),
    ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
    ...(output !== undefined && {
      candidatesTokenCount: output - Math.min(reasoning ?? 0, output),
    }),
    ...(reasoning !== undefined && {
      thoughtsTokenCount: Math.min(reasoning, output ?? reasoning),
    }),
    ...(totalTokens !== undefined && { totalTokenCount: totalTokens }),
  }
}
