import { GatewayError, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, ProviderResult } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { askedFormat } from './embedding-format.ts'

/** Concurrent upstream calls per request. */
const CONCURRENCY = 8

/** The result of one upstream call: a vector per text. */
export interface EmbeddedBatch {
  readonly vectors: readonly JsonValue[][]
  /** The upstream's token count; undefined if it does not count. */
  readonly tokens: number | undefined
}

/** How texts are sent to a model. */
export interface TextEmbedder {
  /** Maximum texts per upstream call. */
  readonly batch: number
  readonly billingModifiers: readonly string[]
  embed(texts: readonly string[]): Promise<EmbeddedBatch>
}

/** The embeddings reply for these texts, from as many upstream calls as needed. */
export async function embedTexts(
  { body }: ProviderCall,
  texts: readonly string[],
  { batch, billingModifiers, embed }: TextEmbedder,
): Promise<ProviderResult> {
  const run = (at: number) => embed(texts.slice(at * batch, (at + 1) * batch))
  const batches = await inParallel(Math.ceil(texts.length / batch), run, billingModifiers)
  const vectors = batches.flatMap((each) => each.vectors)
  const tokens = sumOfTokens(batches)
  return {
    kind: 'buffered',
    body: {
      object: 'list',
      data: vectors.map((values, index) => ({
        object: 'embedding',
        index,
        embedding: askedFormat(values, body) ?? values,
      })),
      model: body.model ?? null,
      ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    },
    billingModifiers,
  }
}

/**
 * Runs calls 0 to `count` - 1, a few at a time. After a failure no call is started; running ones
 * finish, because the upstream charges them. Throws the first failure, with their usage.
 */
async function inParallel(
  count: number,
  run: (index: number) => Promise<EmbeddedBatch>,
  billingModifiers: readonly string[],
): Promise<EmbeddedBatch[]> {
  const results: EmbeddedBatch[] = []
  let next = 0
  let failure: { readonly error: unknown } | undefined

  async function work(): Promise<void> {
    while (failure === undefined && next < count) {
      const index = next++
      try {
        results[index] = await run(index)
      } catch (error) {
        failure ??= { error }
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, count) }, work))
  if (failure === undefined) return results
  const finished = results.filter((result) => result !== undefined)
  throw withUsage(failure.error, finished, billingModifiers)
}

function withUsage(
  error: unknown,
  finished: readonly EmbeddedBatch[],
  billingModifiers: readonly string[],
): unknown {
  const tokens = finished.length === 0 ? undefined : sumOfTokens(finished)
  if (!(error instanceof GatewayError) || tokens === undefined) return error
  const { kind, message, status, details, headers, cause } = error
  const usage = used(tokens)
  return new GatewayError(kind, message, {
    status,
    details,
    headers,
    cause,
    usage,
    billingModifiers,
  })
}

/** Undefined unless each batch has a count. */
function sumOfTokens(batches: readonly EmbeddedBatch[]): number | undefined {
  let sum = 0
  for (const { tokens } of batches) {
    if (tokens === undefined) return undefined
    sum += tokens
  }
  return sum
}

/** Embeddings use only input tokens. */
function used(tokens: number): Usage {
  return {
    uncachedInput: tokens,
    cacheRead: undefined,
    cacheWrite: undefined,
    output: undefined,
    reasoning: undefined,
    promptTokens: tokens,
    totalTokens: tokens,
  }
}
