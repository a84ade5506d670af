import { definePlugin, Type } from 'model-gateway/plugin'
import { dialects, surfaces } from 'model-gateway/surface'
import { uploads } from 'model-gateway/uploads'
import { createSpeechDoor, readSpeech, SPEECH, speech } from './speech.ts'
import {
  createTranscriptionDoor,
  readTranscription,
  TRANSCRIPTIONS,
  TRANSLATIONS,
  transcriptDialect,
} from './transcription.ts'

/** `POST /v1/audio/speech`, `/v1/audio/transcriptions` and `/v1/audio/translations`. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-audio',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s speech and transcription APIs.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    uses: { uploads },
    dialects: [SPEECH, TRANSCRIPTIONS, TRANSLATIONS],
  },
  setup(ctx) {
    ctx.provide(dialects, speech)
    ctx.provide(surfaces, {
      id: SPEECH,
      paths: ['/v1/audio/speech'],
      door: createSpeechDoor(),
      dialect: SPEECH,
      operation: SPEECH,
      read: ({ json }) => readSpeech(json),
    })
    for (const id of [TRANSCRIPTIONS, TRANSLATIONS]) {
      ctx.provide(dialects, transcriptDialect(id))
      ctx.provide(surfaces, {
        id,
        paths: [`/v1/${id.replace('.', '/')}`],
        door: createTranscriptionDoor(ctx.uses.uploads),
        dialect: id,
        operation: id,
        read: ({ json }) => readTranscription(json),
      })
    }
  },
})
