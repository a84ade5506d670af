import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Dialect } from 'model-gateway/surface'
import type { Usage } from 'model-gateway/wire'
import { promptTexts } from './request.ts'

export const RERANK = 'vendor_rerank'

/** The wire format of the vendor, which callers of `/vendor/rerank` use too. */
export const rerank: Dialect = {
  id: RERANK,
  readReply(body) {
    if (!isJsonObject(body)) throw malformed('it is not a JSON object')
    const usage = usageOf(body)
    if (!Array.isArray(body.results)) throw malformed('it has no results', usage)
    return { usage, invokedToolCount: undefined }
  },
  views: { promptTexts },
}

/**
 * Search units, recorded as uncached input tokens. So a price per million tokens is a price per
 * million search units, and output is 0.
 */
function usageOf({ meta }: JsonObject): Usage | undefined {
  const billed = isJsonObject(meta) ? meta.billed_units : undefined
  const units = isJsonObject(billed) ? billed.search_units : undefined
  if (!isCount(units)) return undefined
  return {
    uncachedInput: units,
    cacheRead: undefined,
    cacheWrite: undefined,
    output: 0,
    reasoning: undefined,
    promptTokens: units,
    totalTokens: units,
  }
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function malformed(why: string, usage?: Usage): GatewayError {
  return new GatewayError('upstream_transport', `malformed reply of the vendor: ${why}`, {
    ...(usage !== undefined && { usage }),
  })
}
