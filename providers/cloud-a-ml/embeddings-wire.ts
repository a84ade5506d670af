import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { malformedReply } from '../_shared/malformed-reply.ts'
import type { EmbeddingsInput } from './embeddings-input.ts'
import type { EmbeddingModel } from './upstream-model.ts'

/** One vector, and the tokens that the upstream says its text had. */
export interface Embedding {
  readonly values: JsonValue[]
  readonly tokens: number | undefined
}

/** The body of one upstream call, for these texts of the input. */
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

/** The vectors of one reply, in order. Throws GatewayError `upstream_transport` if it has others. */
export function readEmbeddings(
  { method }: EmbeddingModel,
  reply: JsonObject,
  expected: number,
): Embedding[] {
  const embeddings =
    method === 'embedContent' ? [embedded(reply)] : list(reply.predictions).map(predicted)
  if (embeddings.length !== expected) {
    throw malformedReply(`${embeddings.length} embeddings for ${expected} texts`)
  }
  return embeddings
}

function embedded({ embedding, usageMetadata }: JsonObject): Embedding {
  const tokens = isJsonObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined
  return { values: values(embedding), tokens: count(tokens) }
}

function predicted(prediction: JsonValue): Embedding {
  const embedding = isJsonObject(prediction) ? prediction.embeddings : undefined
  const statistics = isJsonObject(embedding) ? embedding.statistics : undefined
  const tokens = isJsonObject(statistics) ? statistics.token_count : undefined
  return { values: values(embedding), tokens: count(tokens) }
}

function values(embedding: JsonValue | undefined): JsonValue[] {
  const found = list(isJsonObject(embedding) ? embedding.values : undefined)
  if (found.length > 0 && found.every((value) => typeof value === 'number')) return found
  throw malformedReply('an embedding without numbers')
}

function list(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value
  throw malformedReply('a list is missing')
}

function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
