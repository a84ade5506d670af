/** What a model is for. `text` models take conversations. */
export type ModelKind =
  | 'text'
  | 'completions'
  | 'embeddings'
  | 'moderations'
  | 'rerank'
  | 'images'
  | 'speech'
  | 'transcription'

/** The first that matches counts: `rerank-embed` reranks. */
const names: readonly (readonly [ModelKind, RegExp])[] = [
  ['rerank', /rerank/],
  ['moderations', /moderation/],
  ['embeddings', /embed|(^|[/-])(bge|e5|gte|voyage|all-minilm)-/],
  ['speech', /(^|[/-])tts(-|$)|playai-tts|orpheus/],
  ['transcription', /whisper|transcribe|(^|[/-])asr(-|$)/],
  ['images', /dall-e|imagen-|gpt-image|stable-diffusion|(^|[/-])(flux|sdxl)[.\d-]/],
  ['completions', /gpt-3\.5-turbo-instruct|(babbage|davinci)-002/],
]

/** Vendors whose conversation models have no completions API, by how they call them. */
const WITHOUT_COMPLETIONS = /(^|\/)(gpt-|chatgpt-|o\d|claude-|gemini-)/

/** What a model is for, as far as its name says it: no API tells. */
function kindOfModel(model: string): ModelKind {
  const name = model.toLowerCase()
  return names.find(([, pattern]) => pattern.test(name))?.[0] ?? 'text'
}

/** Whether a model of this name can be expected to have an API that models of this kind have. */
export function fitsModel(kinds: readonly ModelKind[], model: string): boolean {
  const kind = kindOfModel(model)
  if (!kinds.includes(kind)) return false
  return !(
    kind === 'text' &&
    kinds.includes('completions') &&
    WITHOUT_COMPLETIONS.test(model.toLowerCase())
  )
}

/** The model of a kind, among those of a vendor, whose name sounds cheap and lasting. */
export function smallModelOf(kind: ModelKind, models: readonly string[]): string | undefined {
  const cost = (model: string) =>
    (/small|mini|nano|lite|turbo/i.test(model) ? 0 : 2) +
    (/\d{4}|preview|beta/i.test(model) ? 1 : 0)
  return models
    .filter((model) => kindOfModel(model) === kind)
    .sort((a, b) => cost(a) - cost(b) || b.localeCompare(a))[0]
}
