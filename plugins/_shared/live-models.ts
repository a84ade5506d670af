/** The kind of a model. `text` models accept conversations. */
export type ModelKind =
  | 'text'
  | 'completions'
  | 'embeddings'
  | 'moderations'
  | 'rerank'
  | 'images'
  | 'speech'
  | 'transcription'
  | 'translation'

/** The first match applies: `rerank-embed` is a reranker. */
const names: readonly (readonly [ModelKind, RegExp])[] = [
  ['rerank', /rerank/],
  ['moderations', /moderation/],
  ['embeddings', /embed|(^|[/-])(bge|e5|gte|voyage|all-minilm)-/],
  ['speech', /(^|[/-])tts(-|$)|playai-tts|orpheus|kokoro/],
  // Models that translate also transcribe:
  // https://platform.openai.com/docs/api-reference/audio/createTranslation,
  // https://console.groq.com/docs/speech-to-text
  ['translation', /whisper(?!.*(turbo|distil))/],
  ['transcription', /whisper|transcribe|voxtral-mini|(^|[/-])asr(-|$)/],
  [
    'images',
    /dall-e|imagen-|gpt-image|grok-imagine-image|cogview|(glm|qwen|mai)-image|stable-diffusion|(^|[/-])(flux|sdxl)[.\d-]/,
  ],
  ['completions', /gpt-3\.5-turbo-instruct|(babbage|davinci)-002/],
]

/** The kind of a model, guessed from its name, because APIs do not report it. */
function kindOfModel(model: string): ModelKind {
  const name = model.toLowerCase()
  return names.find(([, pattern]) => pattern.test(name))?.[0] ?? 'text'
}

/** Whether a model of this name probably has an API for these kinds. */
export function fitsModel(kinds: readonly ModelKind[], model: string): boolean {
  return kinds.includes(kindOfModel(model))
}

/** The vendor's model with this API whose name suggests a cheap and long-lived one. */
export function smallModelOf(
  kinds: readonly ModelKind[],
  models: readonly string[],
): string | undefined {
  const cost = (model: string) =>
    4 * kinds.indexOf(kindOfModel(model)) +
    (/small|mini|nano|lite|turbo/i.test(model) ? 0 : 2) +
    (/\d{4}|preview|beta/i.test(model) ? 1 : 0)
  return models
    .filter((model) => fitsModel(kinds, model))
    .sort((a, b) => cost(a) - cost(b) || b.localeCompare(a))[0]
}

/** Voices by model name; other models have OpenAI's. */
const voices: readonly (readonly [model: RegExp, voice: string])[] = [
  // https://console.groq.com/docs/text-to-speech/orpheus
  [/orpheus-arabic/, 'noura'],
  [/orpheus-v1/, 'hannah'],
  // https://github.com/canopyai/Orpheus-TTS, https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md
  [/orpheus/, 'tara'],
  [/kokoro/, 'af_heart'],
]

/** A voice for a model name. */
export function voiceOf(model: string): string {
  return voices.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? 'alloy'
}
