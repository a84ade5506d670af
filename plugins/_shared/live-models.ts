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
  | 'translation'

/** The first that matches counts: `rerank-embed` reranks. */
const names: readonly (readonly [ModelKind, RegExp])[] = [
  ['rerank', /rerank/],
  ['moderations', /moderation/],
  ['embeddings', /embed|(^|[/-])(bge|e5|gte|voyage|all-minilm)-/],
  ['speech', /(^|[/-])tts(-|$)|playai-tts|orpheus|kokoro/],
  // Those that translate transcribe, too: https://platform.openai.com/docs/api-reference/audio/createTranslation,
  // https://console.groq.com/docs/speech-to-text
  ['translation', /whisper(?!.*(turbo|distil))/],
  ['transcription', /whisper|transcribe|voxtral-mini|(^|[/-])asr(-|$)/],
  [
    'images',
    /dall-e|imagen-|gpt-image|grok-imagine-image|cogview|(glm|qwen|mai)-image|stable-diffusion|(^|[/-])(flux|sdxl)[.\d-]/,
  ],
  ['completions', /gpt-3\.5-turbo-instruct|(babbage|davinci)-002/],
]

/** What a model is for, as far as its name says it: no API tells. */
function kindOfModel(model: string): ModelKind {
  const name = model.toLowerCase()
  return names.find(([, pattern]) => pattern.test(name))?.[0] ?? 'text'
}

/** Whether a model of this name can be expected to have an API that models of this kind have. */
export function fitsModel(kinds: readonly ModelKind[], model: string): boolean {
  return kinds.includes(kindOfModel(model))
}

/** The model, among those of a vendor, that has such an API and whose name sounds cheap and lasting. */
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

/** Voices by the names of models; others have those of OpenAI. */
const voices: readonly (readonly [model: RegExp, voice: string])[] = [
  // https://console.groq.com/docs/text-to-speech/orpheus
  [/orpheus-arabic/, 'noura'],
  [/orpheus-v1/, 'hannah'],
  // https://github.com/canopyai/Orpheus-TTS, https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md
  [/orpheus/, 'tara'],
  [/kokoro/, 'af_heart'],
]

/** A voice that a model of this name has. */
export function voiceOf(model: string): string {
  return voices.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? 'alloy'
}
