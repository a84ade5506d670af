import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Dialect } from 'model-gateway/surface'
import { readEmbeddingsReply, type Usage } from 'model-gateway/wire'
import { memberTexts } from '../_shared/member-texts.ts'
import { replyList, replyObject } from '../_shared/reply-list.ts'

export const RERANK = 'rerank'

/**
 * The replies of Cohere (`results`, and what is billed in `meta`), Jina (`results`, `usage`) and Voyage
 * (`data`, `usage`): https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc,
 * https://docs.voyageai.com/reference/reranker-api
 */
export const rerank: Dialect = {
  id: RERANK,
  readReply(value) {
    const body = replyObject(value)
    const usage = usageOf(body)
    replyList(body, ['results', 'data'], usage)
    return { usage, invokedToolCount: undefined }
  },
  views: {
    promptTexts: (body) => memberTexts(body, ['query', 'documents', 'instruction', 'instructions']),
    replyTexts: (body) => memberTexts(body, ['results', 'data']),
  },
}

function usageOf(body: JsonObject): Usage | undefined {
  const { billed_units, tokens } = objectIn(body, 'meta')
  const billed = isJsonObject(billed_units) ? billed_units : {}
  const stated = isJsonObject(tokens) ? tokens : {}
  const counted = billed.input_tokens ?? stated.input_tokens
  const usage = tokensOf(counted === undefined ? body.usage : { total_tokens: counted })
  const { search_units: units } = billed
  if (!Number.isSafeInteger(units) || (units as number) < 1) return usage
  return { ...(usage ?? NOTHING), uses: { search_unit: units as number } }
}

/** All are input tokens: Jina and Voyage count them as for embeddings. */
function tokensOf(usage: JsonValue | undefined): Usage | undefined {
  return readEmbeddingsReply({ data: [], ...(usage !== undefined && { usage }) }).usage
}

function objectIn(body: JsonObject, name: string): JsonObject {
  const member = body[name]
  return isJsonObject(member) ? member : {}
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
