import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type StatedCount, stated, totalOf, withOthers } from './stated-count.ts'

/** Counters of an upstream that counts cached input beside the rest. */
interface Counters {
  readonly input: StatedCount
  readonly cacheRead: StatedCount
  /** All cache writes, whatever their lifetime. */
  readonly cacheWrite: StatedCount
  /** Those of them that are kept for an hour. */
  readonly cacheWriteHour: StatedCount
  /** Reasoning included. */
  readonly output: StatedCount
  readonly reasoning: StatedCount
}

/** `usage` of native messages as chat completions count it: cached input inside the prompt. */
export function usageFromMessages(raw: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const byLifetime = isJsonObject(raw.cache_creation) ? raw.cache_creation : {}
  const details = isJsonObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return chatUsage(raw, {
    input: stated(raw.input_tokens),
    cacheRead: stated(raw.cache_read_input_tokens),
    cacheWrite: stated(raw.cache_creation_input_tokens),
    cacheWriteHour: stated(byLifetime.ephemeral_1h_input_tokens),
    output: stated(raw.output_tokens),
    reasoning: stated(details.thinking_tokens),
  })
}

/** `usage` of Converse as chat completions count it. */
export function usageFromConverse(raw: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const hours = (Array.isArray(raw.cacheDetails) ? raw.cacheDetails : [])
    .filter((entry) => isJsonObject(entry))
    .filter(({ ttl }) => ttl === '1h')
    .map(({ inputTokens }) => stated(inputTokens))
  return chatUsage(raw, {
    input: stated(raw.inputTokens),
    cacheRead: stated(raw.cacheReadInputTokens),
    cacheWrite: stated(raw.cacheWriteInputTokens),
    cacheWriteHour: hours.length === 0 ? undefined : withOthers(0, ...hours),
    output: stated(raw.outputTokens),
    reasoning: undefined,
  })
}

function chatUsage(raw: JsonObject, counters: Counters): JsonObject {
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = counters
  const prompt = withOthers(input, cacheRead, cacheWrite)
  const promptDetails = known({
    cached_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    cache_write_1h_tokens: cacheWriteHour,
  })
  const completionDetails = known({ reasoning_tokens: reasoning })
  return known({
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: totalOf(prompt, output),
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
