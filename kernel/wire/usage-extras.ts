import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { Usage, UsagePart } from '../plugin/usage.ts'

// Reads usage other than plain token counts, and single counts.

export type Doubt =
  | 'negative_count'
  | 'non_integer_count'
  | 'unsafe_count'
  | 'cached_exceeds_input'
  | 'reasoning_exceeds_output'
  | 'parts_exceed_whole'
  | 'total_mismatch'
  | 'input_missing'
  | 'output_missing'

/** A token count; `null` is absent, and an impossible count is absent and doubted. */
export function count(value: JsonValue | undefined, doubts: Doubt[]): number | undefined {
  if (value === undefined || value === null) return undefined
  if (Number.isSafeInteger(value)) {
    // JSON can say -0, which is 0.
    if ((value as number) >= 0) return (value as number) + 0
    doubts.push('negative_count')
  } else if (Number.isInteger(value)) {
    doubts.push('unsafe_count')
  } else {
    doubts.push('non_integer_count')
  }
  return undefined
}

const KINDS = ['audio', 'image', 'video'] as const
export const NO_DETAILS: JsonObject = {}

export function detailsOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : NO_DETAILS
}

/** Non-text tokens of the buckets, limited to the size of each. */
export function partsOf(
  [input, output]: readonly [JsonObject, JsonObject],
  buckets: Pick<Usage, 'uncachedInput' | 'cacheRead' | 'cacheWrite' | 'output'>,
  doubts: Doubt[],
): Pick<Usage, 'parts'> {
  if (input === NO_DETAILS && output === NO_DETAILS) return {}
  const cached = detailsOf(input.cached_tokens_details)
  const { uncachedInput = 0, cacheRead = 0, cacheWrite = 0, output: said = 0 } = buckets
  const room = { input: uncachedInput, cached: cacheRead, output: said, written: cacheWrite }
  const parts: Partial<Record<UsagePart, number>> = {}
  /** Takes up to the available amount; returns the rest. */
  const take = (side: keyof typeof room, kind: (typeof KINDS)[number], tokens: number) => {
    const part = Math.min(tokens, room[side])
    room[side] -= part
    if (part > 0 && side !== 'written') parts[`${side}_${kind}`] = part
    return tokens - part
  }
  for (const kind of KINDS) {
    const name = `${kind}_tokens`
    const all = count(input[name], doubts) ?? 0
    // Input details include cached tokens; if not reported, as few as possible count as cached.
    const read = count(cached[name], doubts) ?? Math.max(0, Math.min(all - room.input, room.cached))
    const made = count(output[name], doubts) ?? 0
    const fresh = take('written', kind, take('input', kind, Math.max(0, all - read)))
    const rest = fresh + take('cached', kind, read) + take('output', kind, made)
    if (rest > 0 || read > all) doubts.push('parts_exceed_whole')
  }
  return Object.keys(parts).length > 0 ? { parts } : {}
}

/**
 * Uses of tools: by name as Claude, xAI or Perplexity report them, else `tools`, else xAI's sum;
 * what other sellers count in addition to tokens; and each of `others` once.
 */
export function usesOf(
  raw: JsonObject,
  tools: JsonObject | undefined,
  others: readonly string[],
  doubts: Doubt[],
): Pick<Usage, 'uses'> {
  const { server_tool_use, server_side_tool_usage_details: details, tool_calls_details } = raw
  const { num_server_side_tools_used: sum, prompt_audio_seconds: seconds } = raw
  const stating = [server_tool_use, details, tool_calls_details, tools, { server_side_tool: sum }]
  const named = stating.find(isJsonObject)
  const stated: readonly (readonly [string, JsonValue | undefined])[] = [
    ...Object.entries(named ?? NO_DETAILS),
    ['source', isJsonObject(details) ? undefined : raw.num_sources_used],
    ['web_search', raw.num_search_queries],
    ['citation_token', raw.citation_tokens],
    // Mistral sends an empty object for none.
    ['audio_second', isJsonObject(seconds) ? undefined : seconds],
    ...others.map((name) => [name, 1] as const),
  ]
  const uses = new Map<string, number>()
  for (const [name, times] of stated) {
    const used = count(isJsonObject(times) ? times.invocation : times, doubts) ?? 0
    const all = count((uses.get(toolOf(name)) ?? 0) + used, doubts)
    if (used > 0 && all !== undefined) uses.set(toolOf(name), all)
  }
  return uses.size > 0 ? { uses: Object.fromEntries(uses) } : {}
}

/** Response items of tools that the upstream runs. */
const HOSTED = /^(?:web_search|file_search|x_search|image_generation|code_interpreter)_call$/

/**
 * Uses of each upstream tool in a response, by its output items. Opened pages are part of a search,
 * and a container is charged for all that runs in it.
 */
export function toolsUsed(output: readonly JsonValue[]): JsonObject | undefined {
  const uses: Record<string, number> = {}
  const containers = new Set<JsonValue>()
  for (const { type, action, environment, container_id } of output.filter(isJsonObject)) {
    const container = container_id ?? detailsOf(environment).container_id
    const isPart = type === 'web_search_call' && (detailsOf(action).type ?? 'search') !== 'search'
    const tool = toolOf(String(type))
    if (typeof container === 'string') containers.add(container)
    else if (HOSTED.test(String(type)) && !isPart) uses[tool] = (uses[tool] ?? 0) + 1
  }
  if (containers.size > 0) uses.container = containers.size
  return Object.keys(uses).length > 0 ? uses : undefined
}

/** OpenAI's search models search in each chat, which is charged in addition to tokens. */
export function searchOf({ model }: JsonObject): JsonObject | undefined {
  return /-search-(?:preview|api)\b/.test(String(model)) ? { web_search: 1 } : undefined
}

function toolOf(name: string): string {
  const tool = name.replace(/_(?:requests|calls?)$/, '')
  return tool === 'code_interpreter' ? 'code_execution' : tool
}

/** Default tiers, which have the standard price. */
export const USUAL_TIERS: ReadonlySet<JsonValue | undefined> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'global', 'not_available'],
])

const LONGEST_TIER = 100

/** The tier of a reply and other price factors, if not standard. */
export function tierOf(tier: JsonValue | undefined, others: JsonObject = {}): Pick<Usage, 'tier'> {
  const stated = wordOf(tier)
  const parts = stated === undefined ? [] : [USUAL_TIERS.has(stated) ? 'default' : stated]
  for (const [name, value] of Object.entries(others)) {
    const word = wordOf(value)
    if (word !== undefined && !USUAL_TIERS.has(word)) parts.push(`${name}=${word}`)
  }
  return parts.length > 0 ? { tier: parts.join('+').slice(0, LONGEST_TIER) } : {}
}

/** A value that is not text has no price. */
function wordOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase()
}

/**
 * The cost that the seller reports: OpenRouter in USD, Perplexity in an object, xAI in ticks. With
 * a customer's own provider key at OpenRouter, the provider's charge is added.
 */
export function costOf(raw: JsonObject): Pick<Usage, 'statedUsd'> {
  const { cost_in_usd_ticks: ticks, is_byok, cost_details } = raw
  const { total_cost, currency = 'USD' } = detailsOf(raw.cost)
  const cost = isJsonObject(raw.cost) ? currency === 'USD' && total_cost : raw.cost
  if (typeof ticks === 'number') return { statedUsd: [`${ticks}e-10`] }
  if (cost === undefined || cost === null || cost === false) return {}
  const provider = is_byok === true ? [detailsOf(cost_details).upstream_inference_cost] : []
  return { statedUsd: [cost, ...provider].map((amount) => String(amount).slice(0, 40)) }
}
