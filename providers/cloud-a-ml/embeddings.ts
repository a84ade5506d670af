import type { JsonObject } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { postJson, readJsonReply } from '../_shared/compat-http.ts'
import { embedTexts } from '../_shared/google-embeddings.ts'
import { readEmbeddingsInput } from '../_shared/google-embeddings-input.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import type { Profile } from './config.ts'
import { embeddingsRequest, readEmbeddings } from './embeddings-wire.ts'
import type { ModelEndpoint } from './endpoint.ts'
import type { EmbeddingModel } from './upstream-model.ts'

/** Text embeddings by predict or embedContent, in as many calls as needed. */
export function embeddingsExecutor(
  endpoint: ModelEndpoint,
  model: EmbeddingModel,
  extraBody: Readonly<JsonObject>,
  { base64 }: Profile = {},
): Execute {
  const upstream = endpoint.method(model.method)
  const rules = {
    maxDimensions: model.maxDimensions,
    takesTask: model.method === 'predict',
    base64: base64 === 'encode' || 'compatibility.cloud_a_ml.base64: encode on the route',
  } as const
  return (call) => {
    const input = readEmbeddingsInput(call.body, rules)
    return embedTexts(call, input.texts, {
      batch: model.batch,
      billingModifiers: endpoint.billingModifiers,
      async embed(texts) {
        const body = mergeDeep(embeddingsRequest(model, texts, input), extraBody)
        const response = await postJson(upstream, call, JSON.stringify(body), 'application/json')
        return readEmbeddings(model, (await readJsonReply(response)).body, texts.length)
      },
    })
  }
}
