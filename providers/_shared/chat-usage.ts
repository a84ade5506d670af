import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Counters of an upstream that counts cached input beside the rest. */
interface Counters {
  readonly input: number | undefined
  readonly cacheRead: number | undefined
  /** All cache writes, whatever their lifetime. */
  readonly cacheWrite: number | undefined
  /** Those of them that are kept for an hour. */
  readonly cacheWriteHour: number | undefined
  /** Reasoning included. */
  readonly output: number | undefined
  readonly reasoning: number | undefined
}

/** `usage` of native messages as chat completions count it: cached input inside the prompt. */
export function usageFromMessages(raw: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const byLifetime = isJsonObject(raw.cache_creation) ? raw.cache_creation : {}
  const details = isJsonObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return chatUsage(raw, {
    input: count(raw.input_tokens),
    cacheRead: count(raw.cache_read_input_tokens),
    cacheWrite: count(raw.cache_creation_input_tokens),
    cacheWriteHour: count(byLifetime.ephemeral_1h_input_tokens),
    output: count(raw.output_tokens),
    reasoning: count(details.thinking_tokens),
  })
}

/** `usage` of Converse as chat completions count it. */
export function usageFromConverse(raw: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const hours = (Array.isArray(raw.cacheDetails) ? raw.cacheDetails : [])
    .filter((entry) => isJsonObject(entry))
    .filter(({ ttl }) => ttl === '1h')
    .map(({ inputTokens }) => count(inputTokens) ?? 0)
  return chatUsage(raw, {
    input: count(raw.inputTokens),
    cacheRead: count(raw.cacheReadInputTokens),
    cacheWrite: count(raw.cacheWriteInputTokens),
    cacheWriteHour: hours.length === 0 ? undefined : hours.reduce((sum, tokens) => sum + tokens, 0),
    output: count(raw.outputTokens),
    reasoning: undefined,
  })
}

function chatUsage(raw: JsonObject, counters: Counters): JsonObject {
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = counters
  const prompt = input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  const promptDetails = known({
    cached_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    cache_write_1h_tokens: cacheWriteHour,
  })
  const completionDetails = known({ reasoning_tokens: reasoning })
  return known({
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt === undefined || output === undefined ? undefined : prompt + output,
    prompt_tokens_details: promptDetails,
    completion_tokens_details: completionDetails,
    server_tool_use: raw.server_tool_use,
    provider_usage: raw,
  })
}

/** Without the members that are not known or empty. */
function known(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) =>
        value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0),
    ),
  )
}

/** The kernel judges whether a number can be a count. */
function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
