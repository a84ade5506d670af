import { expect, test } from 'bun:test'
import { testSurface } from 'model-gateway/testing'
import { keepPlace } from 'model-gateway/uploads'
import uploads from '../uploads/index.ts'
import plugin from './index.ts'
import { audioEvent } from './stream.ts'
import { TRANSCRIPTIONS, transcriptDialect } from './transcription.ts'

const file = { name: 'a.wav', type: 'audio/wav', bytes: 1, part: keepPlace('/nowhere').part }
const heard = {
  takes: [{ model: 'ear', stream: true, file, language: 'en' }],
  refuses: [
    { body: { model: 'ear' }, field: 'file' },
    { body: { model: 'ear', file: 'x' }, field: 'file' },
    { body: { model: 'ear', file: [file, file] }, field: 'file' },
  ],
}
const usage = {
  type: 'tokens',
  input_tokens: 14,
  input_token_details: { text_tokens: 0, audio_tokens: 14 },
  output_tokens: 45,
  total_tokens: 59,
}
// https://platform.openai.com/docs/api-reference/audio
const transcript = {
  replies: [
    { text: 'Hi there.', usage },
    { text: 'Hi there.', usage: { type: 'duration', seconds: 9 } },
    { text: 'Hi there.', duration: 8.47, segments: [{ id: 0, text: 'Hi there.' }] },
  ],
  malformed: [{ text: 7 }],
  stream: [
    audioEvent('transcript.text.delta', { delta: 'Hi ' }),
    audioEvent('transcript.text.delta', { delta: 'there.' }),
    audioEvent('transcript.text.done', { text: 'Hi there.', usage }),
  ],
}
const audio = 'c29tZSBzb3VuZA=='

testSurface({
  plugin,
  beside: [uploads],
  surfaces: {
    'audio.speech': {
      takes: [{ model: 'tts', input: 'hello', voice: 'alloy', stream_format: 'sse' }],
      refuses: [
        { body: { model: 'tts' }, field: 'input' },
        { body: { model: 'tts', input: 'x', stream_format: 'x' }, field: 'stream_format' },
      ],
    },
    'audio.transcriptions': heard,
    'audio.translations': heard,
  },
  dialects: {
    'audio.speech': {
      replies: [
        { audio, usage: { input_tokens: 9, output_tokens: 101, total_tokens: 110 } },
        { audio, usage: { characters: 5 } },
      ],
      malformed: [{ audio: {} }],
      stream: [
        audioEvent('speech.audio.start', { content_type: 'audio/mpeg' }),
        audioEvent('speech.audio.delta', { audio }),
        audioEvent('speech.audio.done', { usage: { characters: 5 } }),
      ],
    },
    'audio.transcriptions': transcript,
    'audio.translations': transcript,
  },
})

test('a guard changes each copy of the transcribed text', () => {
  const { views } = transcriptDialect(TRANSCRIPTIONS)
  const segment = { id: 0, text: 'Hi Ada.', tokens: [1] }
  const reply = { text: 'Hi Ada.', words: [{ word: 'Ada' }], segments: [segment], language: 'en' }
  const texts = views?.replyTexts?.(reply)
  expect(texts?.segments).toEqual(['Hi Ada.', 'Hi Ada.'])
  expect(texts?.replace(['Hi there.', 'Hi there.'])).toEqual({
    text: 'Hi there.',
    segments: [{ id: 0, text: 'Hi there.' }],
    language: 'en',
  })
})

test('Mistral transcriptions are counted in seconds', () => {
  // https://docs.mistral.ai/api/endpoint/audio/transcriptions
  const counted = { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635 }
  const reply = { model: 'voxtral-mini-2507', text: 'Hi.', language: null, usage: counted }
  expect(transcriptDialect(TRANSCRIPTIONS).readReply(reply).usage).toMatchObject({
    uses: { audio_second: 203 },
  })
})
