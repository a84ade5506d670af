/** Maps a pricing provider id to its places in the source lists. */
export interface PriceList {
  /** The `pricing_provider_id`. */
  readonly id: string
  /** The provider id in genai-prices. */
  readonly genai?: string
  /** Which of its models. */
  readonly takes?: (model: string) => boolean
  /** `litellm_provider` of LiteLLM. */
  readonly litellm: readonly string[]
  /** The model of a key of LiteLLM; undefined: not a model of this list. */
  readonly nameOf: (key: string) => string | undefined
}

/** Excluded: lists in other currencies or in credits, and sellers without a provider type here. */
export const lists: readonly PriceList[] = [
  {
    id: 'amazon-bedrock',
    genai: 'aws',
    litellm: ['bedrock', 'bedrock_converse', 'bedrock_mantle'],
    // `bedrock/REGION/…` is the same id at the price of a region.
    nameOf: (key) => plain(key.replace(/^bedrock_mantle\//, '')),
  },
  { id: 'anthropic', genai: 'anthropic', litellm: ['anthropic'], nameOf: plain },
  {
    id: 'azure',
    genai: 'azure',
    litellm: ['azure', 'azure_ai', 'azure_text'],
    nameOf: (key) => plain(key.replace(/^azure(_ai)?\//, '')),
  },
  prefixed('cerebras', 'cerebras', 'cerebras'),
  {
    id: 'cohere',
    genai: 'cohere',
    litellm: ['cohere', 'cohere_chat'],
    nameOf: (key) => plain(key.replace(/^cohere\//, '')),
  },
  {
    id: 'deepseek',
    genai: 'deepseek',
    litellm: ['deepseek'],
    nameOf: (key) => plain(key.replace(/^deepseek\//, '')),
  },
  prefixed(
    'fireworks',
    'fireworks_ai',
    'fireworks',
    'fireworks_ai',
    'fireworks_ai-embedding-models',
  ),
  {
    id: 'google-vertex',
    genai: 'google',
    // Claude has a separate publisher id.
    takes: (model) => !model.startsWith('claude'),
    litellm: ['vertex_ai-language-models', 'vertex_ai-embedding-models'],
    nameOf: (key) => plain(key.replace(/^vertex_ai\//, '')),
  },
  {
    id: 'google-vertex-anthropic',
    litellm: ['vertex_ai-anthropic_models'],
    nameOf: (key) => plain(key.replace(/^vertex_ai\//, '')),
  },
  prefixed('groq', 'groq', 'groq'),
  { id: 'jina', litellm: ['jina_ai'], nameOf: plain },
  prefixed('mistral', 'mistral', 'mistral'),
  prefixed('moonshotai', 'moonshot', 'moonshotai'),
  { id: 'openai', genai: 'openai', litellm: ['openai', 'text-completion-openai'], nameOf: plain },
  prefixed('perplexity', 'perplexity', 'perplexity'),
  prefixed('together', 'together_ai', 'together'),
  prefixed('voyageai', 'voyage', 'voyageai'),
  prefixed('x-ai', 'xai', 'x-ai'),
  prefixed('zai', 'zai', 'zai'),
  ...[
    'arcee',
    'avian',
    'baseten',
    'cloudflare',
    'doubleword',
    'huggingface_cerebras',
    'huggingface_fireworks-ai',
    'huggingface_groq',
    'huggingface_hyperbolic',
    'huggingface_nebius',
    'huggingface_novita',
    'huggingface_nscale',
    'huggingface_ovhcloud',
    'huggingface_publicai',
    'huggingface_sambanova',
    'huggingface_together',
    'modal',
    'novita',
    'openrouter',
    'ovhcloud',
  ].map((id): PriceList => ({ id, genai: id, litellm: [], nameOf: plain })),
]

/** Keys with a slash are for regions, image sizes or other sellers. */
function plain(key: string): string | undefined {
  return key.includes('/') || key.startsWith('ft:') ? undefined : key
}

/** Keys `SELLER/MODEL`, where the model may have slashes. */
function prefixed(id: string, prefix: string, genai: string, ...litellm: string[]): PriceList {
  const start = `${prefix}/`
  return {
    id,
    genai,
    litellm: litellm.length > 0 ? litellm : [prefix],
    nameOf: (key) => (key.startsWith(start) ? key.slice(start.length) : undefined),
  }
}
