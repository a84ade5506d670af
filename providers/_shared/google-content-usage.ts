import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'
import { type StatedCount, stated, totalOf, withOthers } from './stated-count.ts'

/** Whether `usageMetadata` counts anything; in the middle of a stream it may tell other things only. */
export function countsTokens(raw: JsonValue | undefined): raw is JsonObject {
  return isJsonObject(raw) && stated(raw.promptTokenCount ?? raw.candidatesTokenCount) !== undefined
}

/**
 * `usageMetadata` as chat completions count it: what tools put into the prompt is part of the
 * prompt, thoughts are part of the completion.
 */
export function usageFromGoogle(raw: JsonValue | undefined): JsonObject | undefined {
  if (!countsTokens(raw)) return undefined
  const input = withOthers(stated(raw.promptTokenCount), stated(raw.toolUsePromptTokenCount))
  const output = outputOf(raw, input)
  const total = totalOf(input, output)
  const cached = stated(raw.cachedContentTokenCount)
  const thoughts = stated(raw.thoughtsTokenCount)
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(total === undefined ? {} : { total_tokens: total }),
    ...details('prompt_tokens_details', {
      ...(cached === undefined ? {} : { cached_tokens: cached }),
      ...tokensByKind(raw.promptTokensDetails),
    }),
    ...details('completion_tokens_details', {
      ...(thoughts === undefined ? {} : { reasoning_tokens: thoughts }),
      ...tokensByKind(raw.candidatesTokensDetails),
    }),
    provider_usage: raw,
  }
}

function details(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members }
}

/** Tokens that are no text: `audio_tokens` and so on. A document counts as text. */
function tokensByKind(list: JsonValue | undefined): JsonObject {
  const tokens: Record<string, number> = {}
  for (const entry of Array.isArray(list) ? list : []) {
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

/** The same in buckets, for a call that failed after it had been counted. */
export function countedByGoogle(raw: JsonValue | undefined): Usage | undefined {
  if (!countsTokens(raw)) return undefined
  const usage = usageFromGoogle(raw)
  const input = count(usage?.prompt_tokens)
  if (input === undefined) return undefined
  const cacheRead = count(raw.cachedContentTokenCount)
  return {
    uncachedInput: Math.max(input - (cacheRead ?? 0), 0),
    cacheRead,
    cacheWrite: undefined,
    output: count(usage?.completion_tokens),
    reasoning: count(raw.thoughtsTokenCount),
    promptTokens: input,
    totalTokens: count(usage?.total_tokens),
  }
}

/** Counts that are zero are left out on the wire; then the total tells. */
function outputOf(raw: JsonObject, input: StatedCount): StatedCount {
  const candidates = stated(raw.candidatesTokenCount)
  const thoughts = stated(raw.thoughtsTokenCount)
  if (candidates !== undefined || thoughts !== undefined) {
    return withOthers(candidates ?? 0, thoughts)
  }
  return input !== undefined && raw.totalTokenCount === input ? 0 : undefined
}

/** The number, if it is one. */
function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
