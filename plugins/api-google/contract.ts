/** Imported by providers that read Google's replies, as `model-gateway/google`. */

import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isPresent, readChatUsage, type Usage } from 'model-gateway/wire'

/** Whether `usageMetadata` has counters; in mid-stream it may contain only other data. */
export function countsTokens(raw: JsonValue | undefined): raw is JsonObject {
  return isJsonObject(raw) && stated(raw.promptTokenCount ?? raw.candidatesTokenCount) !== undefined
}

/**
 * `usageMetadata` in chat format: tool tokens are part of the prompt, thinking tokens of the
 * completion.
 */
export function usageFromGoogle(
  raw: JsonValue | undefined,
  searches?: JsonObject,
): JsonObject | undefined {
  if (!countsTokens(raw)) return undefined
  const input = withOther(stated(raw.promptTokenCount), stated(raw.toolUsePromptTokenCount))
  const output = outputOf(raw, input)
  const total = totalOf(input, output)
  const cached = stated(raw.cachedContentTokenCount)
  const thoughts = stated(raw.thoughtsTokenCount)
  const tier = tierOf(raw)
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(total === undefined ? {} : { total_tokens: total }),
    ...details('prompt_tokens_details', {
      ...(cached === undefined ? {} : { cached_tokens: cached }),
      ...details('cached_tokens_details', tokensByKind(raw.cacheTokensDetails)),
      ...tokensByKind(raw.promptTokensDetails, raw.toolUsePromptTokensDetails),
    }),
    ...details('completion_tokens_details', {
      ...(thoughts === undefined ? {} : { reasoning_tokens: thoughts }),
      ...tokensByKind(raw.candidatesTokensDetails),
    }),
    ...(searches === undefined ? {} : { server_tool_use: searches }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    provider_usage: raw,
  }
}

/** Vertex AI calls it the traffic type. */
function tierOf({ serviceTier, trafficType }: JsonObject): string | undefined {
  const stated = serviceTier ?? trafficType
  if (typeof stated !== 'string' || stated.endsWith('UNSPECIFIED')) return undefined
  const tier = stated.toLowerCase().replace(/^service_tier_/, '')
  return tier === 'on_demand' ? 'default' : tier.replace(/^on_demand_/, '')
}

/**
 * Searches of a reply, which are charged per query or, before Gemini 3, per call, as in the price
 * list. Searches of maps and of the customer's data have other prices.
 */
export function searchesOf(facts: readonly JsonObject[]): JsonObject | undefined {
  const queries = new Set<JsonValue>()
  const chunks: JsonObject[] = []
  for (const { grounding_metadata: grounding } of facts) {
    if (!isJsonObject(grounding)) continue
    const { webSearchQueries, groundingChunks } = grounding
    for (const query of Array.isArray(webSearchQueries) ? webSearchQueries : []) {
      if (query !== '') queries.add(query)
    }
    chunks.push(...(Array.isArray(groundingChunks) ? groundingChunks.filter(isJsonObject) : []))
  }
  const searched = queries.size > 0 || chunks.some(({ web }) => isJsonObject(web))
  const uses = {
    ...(searched && { grounding: 1, web_search: Math.max(1, queries.size) }),
    ...(chunks.some(({ maps }) => isJsonObject(maps)) && { maps_grounding: 1 }),
    ...(chunks.some(isOwnData) && { data_grounding: 1 }),
  }
  return Object.keys(uses).length === 0 ? undefined : uses
}

/** Results from the customer's data are not charged per call. */
function isOwnData({ retrievedContext: context }: JsonObject): boolean {
  return isJsonObject(context) && !isPresent(context.ragChunk)
}

function details(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members }
}

/** Tokens that are not text: `audio_tokens` and so on. Documents count as text. */
function tokensByKind(...lists: readonly (JsonValue | undefined)[]): JsonObject {
  const tokens: Record<string, number> = {}
  for (const entry of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
    if (!isJsonObject(entry)) continue
    const { modality } = entry
    const counted = count(entry.tokenCount)
    if (
      counted === undefined ||
      (modality !== 'AUDIO' && modality !== 'IMAGE' && modality !== 'VIDEO')
    )
      continue
    const name = `${modality.toLowerCase()}_tokens`
    tokens[name] = (tokens[name] ?? 0) + counted
  }
  return tokens
}

/** The same as usage, for a call that failed after it was counted. */
export function countedByGoogle(raw: JsonValue | undefined): Usage | undefined {
  return readChatUsage(usageFromGoogle(raw))
}

/** The API leaves out zeros; then the total tells. */
function outputOf(raw: JsonObject, input: StatedCount): StatedCount {
  const candidates = stated(raw.candidatesTokenCount)
  const thoughts = stated(raw.thoughtsTokenCount)
  if (candidates !== undefined || thoughts !== undefined) {
    return withOther(candidates ?? 0, thoughts)
  }
  return input !== undefined && raw.totalTokenCount === input ? 0 : undefined
}

/** A counter as reported; the kernel validates it. */
type StatedCount = Exclude<JsonValue, null> | undefined

/** The counter; null counts as missing. */
function stated(value: JsonValue | undefined): StatedCount {
  return value ?? undefined
}

/** The sum of a counter and another that is not part of it, if that is a count. */
function withOther(count: StatedCount, other: StatedCount): StatedCount {
  const isCount = Number.isSafeInteger(other) && (other as number) >= 0
  return typeof count === 'number' && isCount ? count + (other as number) : count
}

function totalOf(input: StatedCount, output: StatedCount): number | undefined {
  return typeof input === 'number' && typeof output === 'number' ? input + output : undefined
}

/** The number, if it is one. */
function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
