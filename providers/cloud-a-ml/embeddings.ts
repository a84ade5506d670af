import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { Execute, ProviderCall } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { postJson, readJsonReply } from '../_shared/compat-http.ts'
import { askedFormat } from '../_shared/embedding-format.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import type { Profile } from './config.ts'
import { readEmbeddingsInput } from './embeddings-input.ts'
import { type Embedding, embeddingsRequest, readEmbeddings } from './embeddings-wire.ts'
import type { ModelEndpoint } from './endpoint.ts'
import type { EmbeddingModel } from './upstream-model.ts'

/** Upstream calls of one request that run at once. */
const CONCURRENCY = 8

/** Text embeddings: predict or embedContent, as many calls of it as the texts need. */
export function embeddingsExecutor(
  endpoint: ModelEndpoint,
  model: EmbeddingModel,
  extraBody: Readonly<JsonObject>,
  profile: Profile = {},
): Execute {
  const upstream = endpoint.method(model.method)
  return async (call) => {
    const input = readEmbeddingsInput(call.body, model, profile)
    const batches = Math.ceil(input.texts.length / model.batch)

    async function embed(batch: number): Promise<Embedding[]> {
      const texts = input.texts.slice(batch * model.batch, (batch + 1) * model.batch)
      const body = mergeDeep(embeddingsRequest(model, texts, input), extraBody)
      const response = await postJson(upstream, call, JSON.stringify(body), 'application/json')
      return readEmbeddings(model, (await readJsonReply(response)).body, texts.length)
    }

    const { billingModifiers } = endpoint
    const embeddings = (await inParallel(batches, embed, billingModifiers)).flat()
    const tokens = sumOfTokens(embeddings)
    return {
      kind: 'buffered',
      body: {
        object: 'list',
        data: embeddings.map(({ values }, index) => ({
          object: 'embedding',
          index,
          embedding: askedFormat(values, call.body) ?? values,
        })),
        model: modelOf(call),
        ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
      },
      billingModifiers,
    }
  }
}

function modelOf({ body }: ProviderCall) {
  return body.model ?? null
}

/**
 * Runs calls 0 to `count` - 1, a few at a time. After a failure none is started any more; those that
 * run may finish, because the upstream charges them. Throws the first failure, with their usage.
 */
async function inParallel(
  count: number,
  run: (index: number) => Promise<Embedding[]>,
  billingModifiers: readonly string[],
): Promise<Embedding[][]> {
  const results: Embedding[][] = []
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
  throw withUsage(failure.error, results.flat(), billingModifiers)
}

function withUsage(
  error: unknown,
  finished: readonly Embedding[],
  billingModifiers: readonly string[],
): unknown {
  const tokens = finished.length === 0 ? undefined : sumOfTokens(finished)
  if (!(error instanceof GatewayError) || tokens === undefined) return error
  const { code, message, status, details, headers, cause } = error
  const usage = used(tokens)
  return new GatewayError(code, message, {
    status,
    details,
    headers,
    cause,
    usage,
    billingModifiers,
  })
}

/** Undefined unless every embedding has a count. */
function sumOfTokens(embeddings: readonly Embedding[]): number | undefined {
  let sum = 0
  for (const { tokens } of embeddings) {
    if (tokens === undefined) return undefined
    sum += tokens
  }
  return sum
}

/** Embeddings are all input. */
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
