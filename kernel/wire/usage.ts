import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { Usage, UsagePart } from '../plugin/usage.ts'

/** Reads a `usage` object of one family; undefined when it holds no count, not even an impossible one. */
export type UsageReader = (raw: JsonValue | undefined, tier?: JsonValue) => Usage | undefined

type Doubt =
  | 'negative_count'
  | 'non_integer_count'
  | 'unsafe_count'
  | 'cached_exceeds_input'
  | 'reasoning_exceeds_output'
  | 'total_mismatch'
  | 'input_missing'
  | 'output_missing'

/** Counters as stated. Cached input and cache writes stand inside `input`, reasoning in `output`. */
interface Counters {
  input: number | undefined
  cacheRead: number | undefined
  cacheWrite: number | undefined
  /** What of `cacheWrite` is kept for an hour. */
  cacheWriteHour?: number | undefined
  output: number | undefined
  reasoning: number | undefined
  total: number | undefined
}

/** `usage` of chat completions, and the `service_tier` beside it. */
export function readChatUsage(raw: JsonValue | undefined, tier?: JsonValue): Usage | undefined {
  return readTokens(raw, tier, 'prompt_tokens', 'completion_tokens')
}

/** The same of responses. */
export function readResponsesUsage(
  raw: JsonValue | undefined,
  tier?: JsonValue,
): Usage | undefined {
  return readTokens(raw, tier, 'input_tokens', 'output_tokens')
}

/**
 * `usage` of embeddings: all input. `output` is undefined rather than 0, since there is no such
 * bucket, so that the price needs no output rate. An upstream that states only the total has
 * stated the input.
 */
export function readEmbeddingsUsage(raw: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(raw)) return undefined
  const doubts: Doubt[] = []
  const total = count(raw.total_tokens, doubts)
  const input = count(raw.prompt_tokens, doubts) ?? total
  if (input === undefined && doubts.length === 0) return undefined
  if (total !== undefined && total !== input) doubts.push('total_mismatch')
  return usageOf(
    {
      input,
      cacheRead: undefined,
      cacheWrite: undefined,
      output: undefined,
      reasoning: undefined,
      total: total ?? input,
    },
    doubts,
  )
}

/**
 * `usage` of the messages API, which counts cached input beside the rest, and what was sampled to compact
 * a conversation in `iterations`. Another model that was asked there, an advisor or a fallback, counts as
 * a tool: it has its own price.
 */
export function readMessagesUsage(raw: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(raw)) return undefined
  const doubts: Doubt[] = []
  const iterations = Array.isArray(raw.iterations) ? raw.iterations.filter(isJsonObject) : []
  const samplings = [raw, ...iterations.filter(({ type }) => type === 'compaction')]
  const sum = (read: (sampling: JsonObject) => JsonValue | undefined) =>
    samplings
      .map((sampling) => count(read(sampling), doubts))
      .reduce((total, each) => (each === undefined ? total : (total ?? 0) + each), undefined)
  const uncached = sum(({ input_tokens }) => input_tokens)
  const cacheRead = sum(({ cache_read_input_tokens }) => cache_read_input_tokens)
  const cacheWrite = sum(({ cache_creation_input_tokens }) => cache_creation_input_tokens)
  const counters: Counters = {
    input: uncached === undefined ? undefined : uncached + (cacheRead ?? 0) + (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    cacheWriteHour: sum(
      ({ cache_creation }) => detailsOf(cache_creation).ephemeral_1h_input_tokens,
    ),
    output: sum(({ output_tokens }) => output_tokens),
    reasoning: count(detailsOf(raw.output_tokens_details).thinking_tokens, doubts),
    total: undefined,
  }
  const isEmpty = counters.input === undefined && counters.output === undefined
  if (isEmpty && doubts.length === 0) return undefined
  settleOutput(counters, doubts)
  const usage = usageOf(counters, doubts)
  const uses = { ...usesOf(raw) }
  for (const { type } of iterations) {
    if (typeof type !== 'string' || type === 'message' || type === 'compaction') continue
    uses[type] = (uses[type] ?? 0) + 1
  }
  return { ...usage, ...(Object.keys(uses).length > 0 && { uses }), ...tierOf(raw.service_tier) }
}

function readTokens(
  raw: JsonValue | undefined,
  tier: JsonValue | undefined,
  inputName: 'prompt_tokens' | 'input_tokens',
  outputName: 'completion_tokens' | 'output_tokens',
): Usage | undefined {
  if (!isJsonObject(raw)) return undefined
  const doubts: Doubt[] = []
  const inputDetails = detailsOf(raw[`${inputName}_details`])
  const outputDetails = detailsOf(raw[`${outputName}_details`])
  const counters: Counters = {
    input: count(raw[inputName], doubts),
    cacheRead: count(inputDetails.cached_tokens, doubts),
    cacheWrite: count(inputDetails.cache_write_tokens, doubts),
    cacheWriteHour: count(inputDetails.cache_write_1h_tokens, doubts),
    output: count(raw[outputName], doubts),
    reasoning: count(outputDetails.reasoning_tokens, doubts),
    total: count(raw.total_tokens, doubts),
  }
  const isEmpty = counters.input === undefined && counters.output === undefined
  if (isEmpty && doubts.length === 0) return undefined
  settleOutput(counters, doubts)
  const usage = usageOf(counters, doubts)
  const parts = partsOf(inputDetails, outputDetails)
  const uses = usesOf(raw)
  const served = tierOf(tier ?? raw.service_tier)
  if (parts === undefined && uses === undefined && served.tier === undefined) return usage
  return { ...usage, ...(parts && { parts }), ...(uses && { uses }), ...served }
}

const NO_DETAILS: JsonObject = {}

function detailsOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : NO_DETAILS
}

/** What of the buckets is no text; undefined when all of it is, or nobody says. */
function partsOf(input: JsonObject, output: JsonObject): Usage['parts'] | undefined {
  if (input === NO_DETAILS && output === NO_DETAILS) return undefined
  const cached = detailsOf(input.cached_tokens_details)
  const parts: Partial<Record<UsagePart, number>> = {}
  for (const kind of ['audio', 'image', 'video'] as const) {
    const name = `${kind}_tokens`
    const read = used(cached[name])
    // Those of the input are in it whether they were cached or not.
    const fresh = used(input[name]) - read
    if (fresh > 0) parts[`input_${kind}`] = fresh
    if (read > 0) parts[`cached_${kind}`] = read
    const made = used(output[name])
    if (made > 0) parts[`output_${kind}`] = made
  }
  return Object.keys(parts).length > 0 ? parts : undefined
}

/** `server_tool_use` counts the requests to each tool; others state totals. */
function usesOf(usage: JsonObject): Readonly<Record<string, number>> | undefined {
  const { server_tool_use, num_server_side_tools_used, num_sources_used } = usage
  if (!isJsonObject(server_tool_use) && !num_server_side_tools_used && !num_sources_used) {
    return undefined
  }
  const uses: Record<string, number> = {}
  for (const [name, times] of Object.entries(detailsOf(server_tool_use))) {
    if (used(times) > 0) uses[name.replace(/_requests$/, '')] = used(times)
  }
  if (used(num_server_side_tools_used) > 0) uses.server_side_tool = used(num_server_side_tools_used)
  if (used(num_sources_used) > 0) uses.source = used(num_sources_used)
  return Object.keys(uses).length > 0 ? uses : undefined
}

/** Where nothing is, nothing was used. */
function used(count: JsonValue | undefined): number {
  return Number.isSafeInteger(count)
    ? Math.max(0, count as number)
    : typeof count === 'number' && count > 0
      ? 1
      : 0
}

const USUAL_TIERS: ReadonlySet<JsonValue | undefined> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand'],
])

/** The tier that a reply names, as usage has it. */
function tierOf(stated: JsonValue | undefined): Pick<Usage, 'tier'> {
  if (typeof stated !== 'string' || stated === '') return {}
  return { tier: USUAL_TIERS.has(stated) ? 'default' : stated }
}

/**
 * Completes the total and compares it. Some upstreams state reasoning beside the output count:
 * where the total proves it, reasoning moves into the output, which is what is billed.
 */
function settleOutput(counters: Counters, doubts: Doubt[]): void {
  const { input, output, reasoning, total } = counters
  if (input === undefined) doubts.push('input_missing')
  if (output === undefined) {
    // Where the total is the input there was none.
    if (total !== input) doubts.push('output_missing')
    return
  }
  if (input !== undefined) {
    if (total === undefined) {
      counters.total = input + output
    } else if (reasoning && total === input + output + reasoning) {
      counters.output = output + reasoning
      return
    } else if (total !== input + output) {
      doubts.push('total_mismatch')
    }
  }
  if (reasoning !== undefined && reasoning > output) doubts.push('reasoning_exceeds_output')
}

function usageOf(counters: Counters, doubts: Doubt[]): Usage {
  const { input, output, reasoning, cacheWriteHour } = counters
  let { cacheRead, cacheWrite } = counters
  if (input !== undefined && (cacheRead ?? 0) + (cacheWrite ?? 0) > input) {
    // The input count is what every upstream states; a detail that contradicts it is dropped.
    doubts.push('cached_exceeds_input')
    cacheRead = undefined
    cacheWrite = undefined
  }
  const usage = {
    uncachedInput: input === undefined ? undefined : input - (cacheRead ?? 0) - (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    ...(cacheWrite && cacheWriteHour ? { cacheWriteHour } : {}),
    output,
    reasoning,
    promptTokens: input,
    totalTokens: counters.total,
  }
  const [doubt] = doubts
  return doubt === undefined ? usage : { ...usage, doubt }
}

/** A token count; null is absent, and what cannot be a count is absent and doubted. */
function count(value: JsonValue | undefined, doubts: Doubt[]): number | undefined {
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

/** Keeps the latest coherent usage of a stream. */
export function createUsageTap(read: UsageReader) {
  let coherent: Usage | undefined
  let latest: Usage | undefined
  return {
    take(raw: JsonValue | undefined, tier?: JsonValue): void {
      const usage = read(raw, tier)
      if (usage === undefined) return
      const { doubt } = usage
      if (doubt === undefined) coherent = usage
      // Earlier coherent counters are doubtful when the last ones are not coherent.
      latest = doubt === undefined || coherent === undefined ? usage : { ...coherent, doubt }
    },
    /** The same object until there are other counters. */
    get usage(): Usage | undefined {
      return latest
    },
  }
}
