import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { EmbeddedBatch } from '../_shared/google-embeddings.ts'
import type { EmbeddingsInput } from '../_shared/google-embeddings-input.ts'
import { checkNumber, countOf, listOf, vectorOf } from '../_shared/google-vectors.ts'
import type { EmbeddingModel } from './upstream-model.ts'

/** The body of one upstream call for these texts. */
export function embeddingsRequest(
  { method }: EmbeddingModel,
  texts: readonly string[],
  input: EmbeddingsInput,
): JsonObject {
  const { dimensions, taskType, title, autoTruncate } = input
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
  if (method === 'embedContent') {
    return {
      content: { parts: texts.map((text) => ({ text })) },
      ...(dimensions === undefined ? {} : { embedContentConfig: size }),
    }
  }
  const parameters = { ...size, ...(autoTruncate === undefined ? {} : { autoTruncate }) }
  return {
    instances: texts.map((content) => ({
      content,
      ...(taskType === undefined ? {} : { task_type: taskType }),
      ...(title === undefined ? {} : { title }),
    })),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  }
}

/**
 * The vectors of one reply, in order. Throws GatewayError `upstream_transport` if their number is
 * wrong.
 */
export function readEmbeddings(
  { method }: EmbeddingModel,
  reply: JsonObject,
  expected: number,
): EmbeddedBatch {
  if (method === 'embedContent') {
    const { embedding, usageMetadata } = reply
    checkNumber([embedding], expected)
    const tokens = isJsonObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined
    return { vectors: [vectorOf(embedding)], tokens: countOf(tokens) }
  }
  const embeddings = listOf(reply.predictions).map((prediction) =>
    isJsonObject(prediction) ? prediction.embeddings : undefined,
  )
  checkNumber(embeddings, expected)
  return { vectors: embeddings.map(vectorOf), tokens: sumOf(embeddings.map(tokensOf)) }
}

function tokensOf(embedding: JsonValue | undefined): number | undefined {
  const statistics = isJsonObject(embedding) ? embedding.statistics : undefined
  return countOf(isJsonObject(statistics) ? statistics.token_count : undefined)
}

/** Undefined unless each text has a count. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.some((count) => count === undefined)
    ? undefined
    : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}
