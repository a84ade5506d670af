import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { readChatUsage, type Usage } from 'model-gateway/wire'

const NOTHING: Usage = {
  ...{ uncachedInput: undefined, cacheRead: undefined, cacheWrite: undefined },
  ...{ output: undefined, reasoning: undefined, promptTokens: undefined, totalTokens: undefined },
}

/**
 * Seconds are charged in whole units:
 * https://platform.openai.com/docs/api-reference/audio/verbose-json-object
 */
export function secondsOf(seconds: JsonValue | undefined): Usage | undefined {
  const stated = typeof seconds === 'string' ? Number.parseFloat(seconds) : seconds
  const whole = typeof stated === 'number' ? Math.ceil(stated) : -1
  if (!Number.isSafeInteger(whole) || whole < 0) return undefined
  return { ...NOTHING, uses: { audio_second: whole } }
}

/** Input characters, if the upstream does not report usage. */
export function charactersOf(characters: JsonValue | undefined): Usage | undefined {
  if (!Number.isSafeInteger(characters) || (characters as number) < 0) return undefined
  return { ...NOTHING, uses: { character: characters as number } }
}

/**
 * `usage` of transcriptions and speech: `{type: 'tokens', …}` or `{type: 'duration', seconds}`.
 * Mistral charges by `prompt_audio_seconds`:
 * https://docs.mistral.ai/api/endpoint/audio/transcriptions. Tokens on the audio side are audio
 * tokens, unless details say otherwise.
 */
export function audioUsage(
  stated: JsonValue | undefined,
  sound: 'input' | 'output',
): Usage | undefined {
  if (!isJsonObject(stated)) return undefined
  const { input_tokens: input, output_tokens: output, total_tokens: total } = stated
  if (input === undefined && output === undefined) {
    return secondsOf(stated.seconds ?? stated.prompt_audio_seconds)
  }
  const inside = stated.input_token_details ?? stated.input_tokens_details
  const made = stated.output_token_details ?? stated.output_tokens_details
  const all = (tokens: JsonValue | undefined) => ({ audio_tokens: tokens ?? null })
  const heard = isJsonObject(inside) ? inside : sound === 'input' ? all(input) : {}
  const spoken = isJsonObject(made) ? made : sound === 'output' ? all(output) : {}
  return readChatUsage({
    ...(input !== undefined && { prompt_tokens: input }),
    ...(output !== undefined && { completion_tokens: output }),
    ...(total !== undefined && { total_tokens: total }),
    prompt_tokens_details: heard,
    completion_tokens_details: spoken,
  })
}
