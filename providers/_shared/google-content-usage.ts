import { isJsonObject, type JsonObject, type JsonValue, type Usage } from 'model-gateway/plugin'

/** Whether `usageMetadata` counts anything; in the middle of a stream it may tell other things only. */
export function countsTokens(raw: JsonValue | undefined): raw is JsonObject {
  return isJsonObject(raw) && count(raw.promptTokenCount ?? raw.candidatesTokenCount) !== undefined
}

/**
 * `usageMetadata` as chat completions count it: what tools put into the prompt is part of the
 * prompt, thoughts are part of the completion.
 */
export function usageFromGoogle(raw: JsonValue | undefined): JsonObject | undefined {
  if (!countsTokens(raw)) return undefined
  const prompt = count(raw.promptTokenCount)
  const input =
    prompt === undefined ? undefined : prompt + (count(raw.toolUsePromptTokenCount) ?? 0)
  const output = outputOf(raw, input)
  const cached = count(raw.cachedContentTokenCount)
  const thoughts = count(raw.thoughtsTokenCount)
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
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
function outputOf(raw: JsonObject, input: number | undefined): number | undefined {
  const candidates = count(raw.candidatesTokenCount)
  const thoughts = count(raw.thoughtsTokenCount)
  if (candidates !== undefined || thoughts !== undefined) return (candidates ?? 0) + (thoughts ?? 0)
  return input !== undefined && count(raw.totalTokenCount) === input ? 0 : undefined
}

/** The kernel judges whether a number can be a count. */
function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
