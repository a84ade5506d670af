import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { Usage } from '../plugin/usage.ts'
import {
  costOf,
  count,
  type Doubt,
  detailsOf,
  NO_DETAILS,
  partsOf,
  tierOf,
  usesOf,
} from './usage-extras.ts'

/**
 * Reads the `usage` object of a dialect, with the service tier and tool uses next to it. Undefined
 * if it has no count, not even an impossible one.
 */
export type UsageReader = (
  raw: JsonValue | undefined,
  tier?: JsonValue,
  tools?: JsonObject,
) => Usage | undefined

/** Counters as reported. `input` includes cached input and cache writes, `output` reasoning. */
interface Counters {
  input: number | undefined
  cacheRead: number | undefined
  cacheWrite: number | undefined
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWriteHour?: number | undefined
  output: number | undefined
  reasoning: number | undefined
  total: number | undefined
}

/** `usage` of chat completions and their `service_tier`; `tools` from `searchOf`. */
export const readChatUsage: UsageReader = (raw, tier, tools) =>
  readTokens(raw, tier, 'prompt_tokens', 'completion_tokens', tools)

/** The same for responses; `tools` from `toolsUsed`. */
export const readResponsesUsage: UsageReader = (raw, tier, tools) =>
  readTokens(raw, tier, 'input_tokens', 'output_tokens', tools)

/**
 * `usage` of embeddings: input only. `output` is undefined rather than 0, because the bucket does
 * not exist, so that no output rate is needed. If only the total is reported, it is the input.
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
 * `usage` of the messages API. It counts cached input separately, and samples for compaction in
 * `iterations`. Another model that was called there, an advisor or a fallback, counts as a tool,
 * because it has its own price.
 */
export function readMessagesUsage(raw: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(raw)) return undefined
  const doubts: Doubt[] = []
  const iterations = Array.isArray(raw.iterations) ? raw.iterations.filter(isJsonObject) : []
  const samplings = [raw, ...iterations.filter(({ type }) => type === 'compaction')]
  const sum = (read: (sampling: JsonObject) => JsonValue | undefined) =>
    samplings
      .map((sampling) => count(read(sampling), doubts))
      .reduce((total, each) => count(each === undefined ? total : (total ?? 0) + each, doubts))
  const uncached = sum(({ input_tokens }) => input_tokens)
  const cacheRead = sum(({ cache_read_input_tokens }) => cache_read_input_tokens)
  const cacheWrite = sum(({ cache_creation_input_tokens }) => cache_creation_input_tokens)
  const counters: Counters = {
    input:
      uncached === undefined
        ? undefined
        : count(uncached + (cacheRead ?? 0) + (cacheWrite ?? 0), doubts),
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
  const others = iterations.flatMap(({ type }) =>
    typeof type !== 'string' || type === 'message' || type === 'compaction' ? [] : [type],
  )
  const uses = usesOf(raw, undefined, others, doubts)
  return usageOf(counters, doubts, { ...uses, ...messagesTier(raw), ...costOf(raw) })
}

/** Region and speed affect the price like the tier. */
export function messagesTier({ service_tier, speed, inference_geo }: JsonObject) {
  return tierOf(service_tier, { speed, inference_geo })
}

function readTokens(
  raw: JsonValue | undefined,
  tier: JsonValue | undefined,
  inputName: 'prompt_tokens' | 'input_tokens',
  outputName: 'completion_tokens' | 'output_tokens',
  tools?: JsonObject,
): Usage | undefined {
  if (!isJsonObject(raw)) return undefined
  const doubts: Doubt[] = []
  const inputDetails = detailsOf(raw[`${inputName}_details`])
  const outputDetails = detailsOf(raw[`${outputName}_details`])
  const { cache_creation_input_tokens: written } = raw
  const counters: Counters = {
    input: count(raw[inputName], doubts),
    cacheRead: count(cachedOf(raw, inputDetails), doubts),
    cacheWrite: count(
      inputDetails.cache_write_tokens ?? inputDetails.cache_creation_input_tokens ?? written,
      doubts,
    ),
    cacheWriteHour: count(
      inputDetails.cache_write_1h_tokens ??
        detailsOf(inputDetails.cache_creation).ephemeral_1h_input_tokens,
      doubts,
    ),
    output: count(raw[outputName], doubts),
    reasoning: count(outputDetails.reasoning_tokens, doubts),
    total: count(raw.total_tokens, doubts),
  }
  const isEmpty = counters.input === undefined && counters.output === undefined
  if (isEmpty && doubts.length === 0) return undefined
  const missed = count(raw.prompt_cache_miss_tokens, doubts)
  const { input, cacheRead = 0 } = counters
  if (missed !== undefined && missed + cacheRead !== input) doubts.push('total_mismatch')
  settleOutput(counters, doubts)
  const { search_context_size } = raw
  const more = {
    ...usesOf(raw, tools, [], doubts),
    ...tierOf(tier ?? raw.service_tier, { search_context_size }),
    ...costOf(raw),
  }
  return usageOf(counters, doubts, more, [inputDetails, outputDetails])
}

/** Cached input, in the spellings of OpenAI, Perplexity, Moonshot, DeepSeek and Mistral. */
function cachedOf(raw: JsonObject, details: JsonObject): JsonValue | undefined {
  const { cached_tokens: cached, prompt_cache_hit_tokens: hit, num_cached_tokens: mistral } = raw
  return details.cached_tokens ?? details.cache_read_input_tokens ?? cached ?? hit ?? mistral
}

/**
 * Completes and checks the total. Some upstreams report reasoning in addition to the output count:
 * if the total proves it, reasoning is added to the output, which is billed.
 */
function settleOutput(counters: Counters, doubts: Doubt[]): void {
  const { input, output, reasoning, total } = counters
  if (input === undefined) doubts.push('input_missing')
  if (output === undefined) {
    // If the total equals the input, the output is 0.
    if (total !== input) doubts.push('output_missing')
    return
  }
  if (input !== undefined) {
    if (total === undefined) {
      counters.total = count(input + output, doubts)
    } else if (reasoning && total === input + output + reasoning) {
      counters.output = output + reasoning
      return
    } else if (total !== input + output) {
      doubts.push('total_mismatch')
    }
  }
  if (reasoning !== undefined && reasoning > output) doubts.push('reasoning_exceeds_output')
}

function usageOf(
  counters: Counters,
  doubts: Doubt[],
  more: Partial<Usage> = {},
  details: readonly [JsonObject, JsonObject] = [NO_DETAILS, NO_DETAILS],
): Usage {
  const { input, output, reasoning, cacheWriteHour = 0 } = counters
  let { cacheRead, cacheWrite } = counters
  if (cacheWriteHour > (cacheWrite ?? 0)) doubts.push('parts_exceed_whole')
  if (input !== undefined && (cacheRead ?? 0) + (cacheWrite ?? 0) > input) {
    // Every upstream reports the input count; a detail that contradicts it is dropped.
    doubts.push('cached_exceeds_input')
    cacheRead = undefined
    cacheWrite = undefined
  }
  const hour = Math.min(cacheWriteHour, cacheWrite ?? 0)
  const usage = {
    uncachedInput: input === undefined ? undefined : input - (cacheRead ?? 0) - (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    ...(hour > 0 && { cacheWriteHour: hour }),
    output,
    reasoning,
    promptTokens: input,
    totalTokens: counters.total,
  }
  const parts = partsOf(details, usage, doubts)
  const [doubt] = doubts
  return { ...usage, ...parts, ...more, ...(doubt !== undefined && { doubt }) }
}

/** Keeps the latest consistent usage of a stream. */
export function createUsageTap(read: UsageReader) {
  let coherent: Usage | undefined
  let latest: Usage | undefined
  return {
    take(...stated: Parameters<UsageReader>): void {
      const usage = read(...stated)
      if (usage === undefined) return
      const { doubt } = usage
      if (doubt === undefined) coherent = usage
      // Earlier consistent counters are doubtful if the last ones are inconsistent.
      latest = doubt === undefined || coherent === undefined ? usage : { ...coherent, doubt }
    },
    /** Returns the same object until the counters change. */
    get usage(): Usage | undefined {
      return latest
    },
  }
}
