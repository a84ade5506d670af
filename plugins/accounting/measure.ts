import type { Metering, PartialStream } from 'model-gateway/accounting'
import type { Usage } from 'model-gateway/wire'
import { bytesOf, fewestTokens, type TokenCounter } from '../_shared/token-counter.ts'

/** The largest context window of any model, in tokens. */
const LARGEST_CONTEXT = 10_000_000
/** Several times the largest output of any model in one turn. */
const LARGEST_OUTPUT = 1_000_000
/** How often an upstream may run the model in one call, as with server-side tools. */
const MOST_TURNS = 10
/** A token has at least one byte; a UTF-16 unit has up to three. */
const TOKENS_PER_UNIT = 4
/** More replies than any API returns for one call. */
const MOST_CHOICES = 128
/** More tool uses than any call has. */
const MOST_USES = 1_000_000

/** The reason why usage is treated as unknown. */
export const IMPLAUSIBLE = 'implausible_usage'

/** Whether the request can have used so many tokens, with a wide margin. */
export function isPlausible(
  usage: Usage,
  { length, maxOutputTokens, choices }: Metering['request'],
) {
  const { uncachedInput = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage
  const isWhole = usage.uncachedInput !== undefined && usage.output !== undefined
  if (usage.doubt === 'unsafe_count' && !isWhole) return false
  if (Object.values(usage.uses ?? {}).some((times) => times > MOST_USES)) return false
  const mostInput = TOKENS_PER_UNIT * length + MOST_TURNS * LARGEST_CONTEXT
  const asked = Math.min(maxOutputTokens ?? LARGEST_OUTPUT, LARGEST_CONTEXT)
  const mostOutput =
    Math.min(Math.max(choices, 1), MOST_CHOICES) * (MOST_TURNS * asked + LARGEST_OUTPUT)
  return uncachedInput + cacheRead + cacheWrite <= mostInput && output <= mostOutput
}

/** Unknown usage, with the reason. */
export function unknownUsage(doubt: string): Usage {
  return { ...NOTHING, doubt }
}

const NOTHING: Usage = {
  uncachedInput: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: undefined,
  totalTokens: undefined,
}

/** Usage of a stream so far; missing counters are estimated from its texts. */
export async function estimate(
  stated: Usage | undefined,
  partial: PartialStream,
  tokens: TokenCounter,
): Promise<Usage> {
  const input = hasInput(stated) ? 0 : await tokens.count(partial.input(), 0)
  const output = await tokens.count([partial.output], partial.moreOutputBytes)
  return completed(stated, partial, input, output)
}

/** The same, estimated synchronously from the lengths of the texts. It is a lower bound. */
export function glance(stated: Usage | undefined, partial: PartialStream): Usage {
  const input = hasInput(stated) ? 0 : fewestTokens(bytesOf(partial.input()))
  const output = fewestTokens(Buffer.byteLength(partial.output) + partial.moreOutputBytes)
  return completed(stated, partial, input, output)
}

function hasInput(stated: Usage | undefined): stated is Usage {
  return (stated?.uncachedInput ?? stated?.cacheRead ?? stated?.cacheWrite) !== undefined
}

function completed(
  stated: Usage | undefined,
  { doubt, continues }: PartialStream,
  estimatedInput: number,
  estimatedOutput: number,
): Usage {
  const known = stated?.output ?? 0
  // Counters from before the first word count at most that word.
  const output = Math.max(known, (continues ? known : 0) + estimatedOutput)
  const usage = hasInput(stated)
    ? stated
    : { ...(stated ?? NOTHING), uncachedInput: estimatedInput, promptTokens: estimatedInput }
  const { uncachedInput = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const promptTokens = usage.promptTokens ?? uncachedInput + cacheRead + cacheWrite
  // The stated cost covers fewer tokens than were used.
  const { statedUsd, ...counted } = usage
  return {
    ...counted,
    ...(statedUsd !== undefined && output === known && { statedUsd }),
    output,
    promptTokens,
    totalTokens: promptTokens + output,
    doubt: stated?.doubt ?? doubt,
  }
}
