/** A text-embedding model: how it is called and what it takes. */
export interface EmbeddingModel {
  readonly method: 'predict' | 'embedContent'
  readonly maxDimensions: number
  /** Texts that one call of the upstream may carry. */
  readonly batch: number
}

const embeddingModels: ReadonlyMap<string, EmbeddingModel> = new Map([
  ['gemini-embedding-001', { method: 'predict', maxDimensions: 3072, batch: 1 }],
  ['text-embedding-005', { method: 'predict', maxDimensions: 768, batch: 250 }],
  ['text-multilingual-embedding-002', { method: 'predict', maxDimensions: 768, batch: 250 }],
  ['gemini-embedding-2', { method: 'embedContent', maxDimensions: 3072, batch: 1 }],
])

export const embeddingModelIds: readonly string[] = [...embeddingModels.keys()]

/** `upstream_model` of a route: who publishes the model, and its id there. */
export interface UpstreamModel {
  readonly publisher: 'google' | 'anthropic'
  readonly id: string
  /** Set for a text-embedding model, which does nothing else. */
  readonly embedding: EmbeddingModel | undefined
}

/** What may stand in the path as it is. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/

/** Reads `<publisher>/<id>`; undefined when it is not of this form or of another publisher. */
export function readUpstreamModel(text: string): UpstreamModel | undefined {
  const slash = text.indexOf('/')
  const publisher = text.slice(0, Math.max(slash, 0))
  const id = text.slice(slash + 1)
  if (!ID.test(id)) return undefined
  if (publisher === 'anthropic') return { publisher, id, embedding: undefined }
  if (publisher === 'google') return { publisher, id, embedding: embeddingModels.get(id) }
  return undefined
}
