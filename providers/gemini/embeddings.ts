import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { type CompatEndpoint, postJson, readJsonReply } from '../_shared/compat-http.ts'
import { type EmbeddedBatch, embedTexts } from '../_shared/google-embeddings.ts'
import { type EmbeddingsInput, readEmbeddingsInput } from '../_shared/google-embeddings-input.ts'
import { checkNumber, countOf, listOf, vectorOf } from '../_shared/google-vectors.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import type { ModelName } from './config.ts'

/** "at most 100 requests can be in one batch" */
const BATCH = 100

const RULES = { maxDimensions: undefined, takesTask: true, base64: true } as const

/** Text embeddings, by batchEmbedContents. */
export function embeddingsExecutor(
  endpoint: CompatEndpoint,
  model: ModelName,
  extraBody: Readonly<JsonObject>,
): Execute {
  return (call) => {
    const input = readEmbeddingsInput(call.body, RULES)
    if (input.autoTruncate !== undefined) call.dropped('auto_truncate')
    return embedTexts(call, input.texts, {
      batch: BATCH,
      billingModifiers: [],
      async embed(texts) {
        const requests = texts.map((text) => requestOf(text, model, input))
        const body = JSON.stringify(mergeDeep({ requests }, extraBody))
        const response = await postJson(endpoint, call, body, 'application/json')
        return readBatch((await readJsonReply(response)).body, texts.length)
      },
    })
  }
}

function requestOf(
  text: string,
  { path }: ModelName,
  { dimensions, taskType, title }: EmbeddingsInput,
): JsonObject {
  return {
    model: path,
    content: { parts: [{ text }] },
    ...(taskType === undefined ? {} : { taskType }),
    ...(title === undefined ? {} : { title }),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }
}

/** Usage counts all texts of a batch, if the model counts tokens. */
function readBatch({ embeddings, usageMetadata }: JsonObject, expected: number): EmbeddedBatch {
  const vectors = listOf(embeddings).map(vectorOf)
  checkNumber(vectors, expected)
  return { vectors, tokens: tokensOf(usageMetadata) }
}

function tokensOf(usage: JsonValue | undefined): number | undefined {
  return countOf(isJsonObject(usage) ? usage.promptTokenCount : undefined)
}
