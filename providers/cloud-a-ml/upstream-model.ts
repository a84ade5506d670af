/** A text embedding model: its method and what it accepts. */
export interface EmbeddingModel {
  readonly method: 'predict' | 'embedContent'
  readonly maxDimensions: number
  /** Maximum texts per upstream call. */
  readonly batch: number
}

const embeddingModels: ReadonlyMap<string, EmbeddingModel> = new Map([
  ['gemini-embedding-001', { method: 'predict', maxDimensions: 3072, batch: 1 }],
  ['text-embedding-005', { method: 'predict', maxDimensions: 768, batch: 250 }],
  ['text-multilingual-embedding-002', { method: 'predict', maxDimensions: 768, batch: 250 }],
  ['gemini-embedding-2', { method: 'embedContent', maxDimensions: 3072, batch: 1 }],
])

export const embeddingModelIds: readonly string[] = [...embeddingModels.keys()]

/** `upstream_model` of a route: publisher and model id. */
export interface UpstreamModel {
  readonly publisher: 'google' | 'anthropic'
  readonly id: string
  /** Set for a text embedding model, which supports nothing else. */
  readonly embedding: EmbeddingModel | undefined
}

/** Characters that a path segment may contain unescaped. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/

/** Parses `<publisher>/<id>`; undefined for another format or publisher. */
export function readUpstreamModel(text: string): UpstreamModel | undefined {
  const slash = text.indexOf('/')
  const publisher = text.slice(0, Math.max(slash, 0))
  const id = text.slice(slash + 1)
  if (!ID.test(id)) return undefined
  if (publisher === 'anthropic') return { publisher, id, embedding: undefined }
  if (publisher === 'google') return { publisher, id, embedding: embeddingModels.get(id) }
  return undefined
}
