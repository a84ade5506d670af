import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { messagesTier } from 'model-gateway/wire'
import { type StatedCount, stated, totalOf, withOthers } from './stated-count.ts'

/** Usage of an upstream that counts cached input separately. */
interface Counters {
  readonly input: StatedCount
  readonly cacheRead: StatedCount
  /** All cache writes, of any lifetime. */
  readonly cacheWrite: StatedCount
  /** Cache writes with a lifetime of one hour. */
  readonly cacheWriteHour: StatedCount
  /** Reasoning included. */
  readonly output: StatedCount
  readonly reasoning: StatedCount
}

/** `usage` of the messages API in chat format: cached input is part of the prompt. */
export function usageFromMessages(raw: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined
  const details = isJsonObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  const iterations = listed(raw.iterations)
  const samplings = [raw, ...iterations.filter(({ type }) => type === 'compaction')]
  const counters = {
    input: sumOf(samplings, ({ input_tokens }) => input_tokens),
    cacheRead: sumOf(samplings, ({ cache_read_input_tokens }) => cache_read_input_tokens),
    cacheWrite: sumOf(samplings, ({ cache_creation_input_tokens }) => cache_creation_input_tokens),
    cacheWriteHour: sumOf(samplings, ({ cache_creation: byLifetime }) =>
      isJsonObject(byLifetime) ? byLifetime.ephemeral_1h_input_tokens : undefined,
    ),
    output: sumOf(samplings, ({ output_tokens }) => output_tokens),
    reasoning: stated(details.thinking_tokens),
  }
  const tools = toolUse(raw.server_tool_use, iterations)
  return chatUsage(raw, counters, tools, messagesTier(raw).tier)
}

/** A counter plus the counters of the sampled tokens. */
function sumOf(
  [reply, ...beside]: readonly JsonObject[],
  read: (sampling: JsonObject) => JsonValue | undefined,
): StatedCount {
  const own = reply && stated(read(reply))
  const others = beside.map((sampling) => stated(read(sampling)))
  return others.every((other) => other === undefined) ? own : withOthers(own ?? 0, ...others)
}

/**
 * Tokens of other models, an advisor or a fallback, count as a tool, because their price differs.
 */
function toolUse(
  stated: JsonValue | undefined,
  iterations: readonly JsonObject[],
): JsonValue | undefined {
  const calls: Record<string, number> = {}
  for (const { type } of iterations) {
    if (typeof type !== 'string' || type === 'message' || type === 'compaction') continue
    calls[type] = (calls[type] ?? 0) + 1
  }
  if (Object.keys(calls).length === 0) return stated
  return { ...(isJsonObject(stated) ? stated : {}), ...calls }
}

/** Usage of a Converse reply, or of its stream's last event, in chat format. */
export function usageFromConverse(reply: JsonObject): JsonObject | undefined {
  const { usage: raw } = reply
  if (!isJsonObject(raw)) return undefined
  const hours = listed(raw.cacheDetails)
    .filter(({ ttl }) => ttl === '1h')
    .map(({ inputTokens }) => stated(inputTokens))
  const counters = {
    input: stated(raw.inputTokens),
    cacheRead: stated(raw.cacheReadInputTokens),
    cacheWrite: stated(raw.cacheWriteInputTokens),
    cacheWriteHour: hours.length === 0 ? undefined : withOthers(0, ...hours),
    output: stated(raw.outputTokens),
    reasoning: undefined,
  }
  return chatUsage(raw, counters, toolsOfConverse(raw.serverToolUsage), tierOfConverse(reply))
}

/** The service tier and latency of a Converse reply, if stated. */
function tierOfConverse({ serviceTier, performanceConfig }: JsonObject): string | undefined {
  const type = isJsonObject(serviceTier) ? serviceTier.type : undefined
  const latency = isJsonObject(performanceConfig) ? performanceConfig.latency : undefined
  const parts = [type, typeof latency === 'string' && `latency=${latency}`]
  const stated = parts.filter((part) => typeof part === 'string' && part !== '')
  return stated.length === 0 ? undefined : stated.join('+')
}

/** `webSearchRequests` in chat format. */
function toolsOfConverse(used: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(used) || Object.keys(used).length === 0) return undefined
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(used).map(([name, times]) => [snake(name), times]))
}

function chatUsage(
  raw: JsonObject,
  counters: Counters,
  serverToolUse: JsonValue | undefined,
  tier: string | undefined,
): JsonObject {
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
    server_tool_use: serverToolUse,
    service_tier: tier,
    provider_usage: raw,
  })
}

/** The objects of a list. */
function listed(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter((entry) => isJsonObject(entry)) : []
}

/** Without undefined and empty members. */
function known(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) =>
        value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0),
    ),
  )
}
