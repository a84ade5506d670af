import type { JsonObject } from 'model-gateway/plugin'
import type { TokenCounter } from '../../_shared/token-counter.ts'
import { piecesOf } from '../../_shared/token-pieces.ts'
import type { Sight } from './media.ts'
import { readPrompt } from './prompt.ts'

/** Token factors of a model family. */
interface Reader extends Sight {
  /** Matches the upstream model name. */
  readonly name: RegExp
  /** The family's tokens per token of the encoding o200k. */
  readonly ratio: number
}

/**
 * Claude splits texts into more tokens than o200k, and since Opus 4.7 and generation 5 into about
 * 30 % more than before.
 */
const READERS: readonly Reader[] = [
  {
    name: /claude.*(?:opus-4[.-][7-9]|(?:opus|sonnet|haiku|fable|mythos)-[5-9])(?!\d)/,
    ratio: 1.4,
    longestEdge: 2576,
    mostTokens: 4784,
  },
  { name: /claude/, ratio: 1.1, longestEdge: 1568, mostTokens: 1600 },
]
const OTHERS: Reader = { name: /^/, ratio: 1, longestEdge: 1568, mostTokens: 1600 }

/**
 * Maximum UTF-16 units that are counted of a longer text: without spaces they take half a second.
 */
const MOST_COUNTED = 131_072

/** Estimates the tokens of a request for a model of this name. */
export async function estimateTokens(
  request: JsonObject,
  upstreamModel: string,
  counter: Pick<TokenCounter, 'count'>,
): Promise<number> {
  const reader = READERS.find(({ name }) => name.test(upstreamModel)) ?? OTHERS
  const { texts, otherTokens } = readPrompt(request, reader)
  const text = texts.join('\n')
  const counted = sample(text)
  const tokens = counted === '' ? 0 : await counter.count([counted], 0)
  const share = text.length / Math.max(1, counted.length)
  return Math.ceil(otherTokens + tokens * share * reader.ratio)
}

/** The text, or samples from all parts of it. */
function sample(text: string): string {
  if (text.length <= MOST_COUNTED) return text
  const pieces = piecesOf(text)
  const step = text.length / MOST_COUNTED
  return pieces.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step)).join('')
}
