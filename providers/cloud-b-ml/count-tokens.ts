import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import type { Counter } from '../_shared/count-tokens.ts'
import { invokeMessages } from '../_shared/messages-dialect.ts'

/** Counters know models by their own ids alone, not by those of inference profiles. */
const CLAUDE = /(?:^|[./])(anthropic\.claude[\w.:-]*)$/

/** The id of a model of Anthropic without the region of a profile; undefined for what is none. */
export function claudeId(upstreamModel: string): string | undefined {
  return CLAUDE.exec(upstreamModel)?.[1]
}

/** CountTokens of the runtime service, for a request as InvokeModel would take it. */
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

/** A request has to leave room for its thoughts, though none is made. */
function fewestTokens({ thinking }: JsonObject): number {
  const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined
  return typeof budget === 'number' ? budget + 1 : 1
}

/** The vendor's own API at the edge service: some models are counted there alone. */
export function edgeCounter(endpoint: CompatEndpoint, model: string): Counter {
  return { endpoint, body: (prompt) => ({ model, ...prompt }) }
}
