import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import type { Counter } from '../_shared/count-tokens.ts'
import { invokeMessages } from '../_shared/messages-dialect.ts'

/** Token counters accept only model ids, not ids of inference profiles. */
const CLAUDE = /(?:^|[./])(anthropic\.claude[\w.:-]*)$/

/** The Anthropic model id without the profile's region; undefined for other models. */
export function claudeId(upstreamModel: string): string | undefined {
  return CLAUDE.exec(upstreamModel)?.[1]
}

/** CountTokens of the runtime service, for a request as for InvokeModel. */
export function runtimeCounter(endpoint: CompatEndpoint): Counter {
  return {
    endpoint,
    body(prompt) {
      const request = {
        anthropic_version: invokeMessages.version,
        max_tokens: fewestTokens(prompt),
        ...prompt,
      }
      const body = Buffer.from(JSON.stringify(request)).toString('base64')
      return { input: { invokeModel: { body } } }
    },
  }
}

/** The request must leave room for thinking, although nothing is generated. */
function fewestTokens({ thinking }: JsonObject): number {
  const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined
  return typeof budget === 'number' ? budget + 1 : 1
}

/** The messages API of the edge service; some models have a token counter only there. */
export function edgeCounter(endpoint: CompatEndpoint, model: string): Counter {
  return { endpoint, body: (prompt) => ({ model, ...prompt }) }
}
