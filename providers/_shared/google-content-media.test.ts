import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { mediaPart } from './google-content-media.ts'
import { refusal } from './refusal.fixture.ts'

describe('media', () => {
  const inline = (mimeType: string) => [{ inlineData: { mimeType, data: 'QUJD' } }]
  const remote = (fileUri: string, mimeType: string) => [{ fileData: { fileUri, mimeType } }]
  test.each([
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }, inline('image/png')],
    [{ type: 'image_url', image_url: 'data:IMAGE/GIF;base64,QUJD' }, inline('image/gif')],
    [{ type: 'input_image', image_url: 'data:image/webp;base64,QUJD' }, inline('image/webp')],
    [
      { type: 'image_url', image_url: { url: 'data:;base64,QUJD' }, mime_type: 'image/jpeg' },
      inline('image/jpeg'),
    ],
    [{ type: 'image_url', image_url: 'data:image/jpg;base64,QUJD' }, inline('image/jpeg')],
    [
      { type: 'image_url', image_url: 'gs://bucket/a', mime_type: 'image/jpg' },
      remote('gs://bucket/a', 'image/jpeg'),
    ],
    [
      { type: 'file', file: { file_data: 'data:application/pdf;name=a;base64,QUJD' } },
      inline('application/pdf'),
    ],
    [
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
      },
      inline('application/pdf'),
    ],
    [
      { type: 'image_url', image_url: { url: 'https://h/a/b.JPG?x=1' } },
      remote('https://h/a/b.JPG?x=1', 'image/jpeg'),
    ],
    [
      { type: 'video_url', video_url: { url: 'gs://bucket/clip.mp4' } },
      remote('gs://bucket/clip.mp4', 'video/mp4'),
    ],
    [
      { type: 'input_video', video_url: 'gs://bucket/clip', mediaType: 'video/webm' },
      remote('gs://bucket/clip', 'video/webm'),
    ],
    [
      {
        type: 'file',
        file: { file_url: 'https://h/x', media_type: 'text/csv' },
        mime_type: 'text/csv',
      },
      remote('https://h/x', 'text/csv'),
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://h/x.pdf' } },
      remote('https://h/x.pdf', 'application/pdf'),
    ],
    [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }, inline('audio/wav')],
    [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } }, inline('audio/mpeg')],
    [
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'audio/ogg' } },
      inline('audio/ogg'),
    ],
    [
      { type: 'input_audio', input_audio: { data: 'data:audio/mp3;base64,QUJD', format: 'mp3' } },
      inline('audio/mpeg'),
    ],
    [
      { type: 'audio_url', audio_url: { url: 'https://h/a.flac' } },
      remote('https://h/a.flac', 'audio/flac'),
    ],
    [
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png; charset=utf-8', data: 'QU\nJD' },
      },
      inline('image/png'),
    ],
    [
      { type: 'image_url', image_url: 'data:image/png;charset=utf-8;base64,QU\nJD' },
      inline('image/png'),
    ],
    [
      { type: 'file', file: { filename: 'A b.pdf', file_data: 'data:;base64,QUJD' } },
      inline('application/pdf'),
    ],
    [
      {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/octet-stream;base64,QUJD' },
      },
      inline('application/pdf'),
    ],
    [
      { type: 'input_file', filename: 'x.pdf', file_url: 'https://h/x' },
      remote('https://h/x', 'application/pdf'),
    ],
    [
      { type: 'file', file: { file_id: 'gs://b/x', format: 'application/pdf' } },
      remote('gs://b/x', 'application/pdf'),
    ],
    [
      { type: 'image_url', image_url: { url: 'https://h/x', format: 'png' } },
      remote('https://h/x', 'image/png'),
    ],
    [
      { type: 'image_url', image_url: 'https://h/x?v=1&response-content-type=image%2Fpng' },
      remote('https://h/x?v=1&response-content-type=image%2Fpng', 'image/png'),
    ],
    [
      { type: 'image_url', image_url: 'https://h/x?fm=jpg&w=9' },
      remote('https://h/x?fm=jpg&w=9', 'image/jpeg'),
    ],
    [
      { type: 'file', file: { file_url: 'https://h/d/5?rscd=attachment;%20filename="a.pdf"' } },
      remote('https://h/d/5?rscd=attachment;%20filename="a.pdf"', 'application/pdf'),
    ],
    [
      { type: 'video_url', video_url: { url: 'https://www.youtube.com/watch?v=9hE5' } },
      remote('https://www.youtube.com/watch?v=9hE5', 'video/mp4'),
    ],
    [
      { type: 'video_url', video_url: { url: 'https://youtu.be/9hE5' } },
      remote('https://youtu.be/9hE5', 'video/mp4'),
    ],
    [
      { type: 'document', source: { type: 'base64', media_type: 'Text/Plain', data: 'QUJD' } },
      inline('text/plain'),
    ],
  ] as [JsonObject, JsonValue][])('%j', (part, expected) => {
    expect([mediaPart(part, 'messages.0.content.0')]).toEqual(expected as never)
  })

  const image = (url: JsonValue, more: JsonObject = {}) => ({
    type: 'image_url',
    image_url: { url },
    ...more,
  })
  test.each([
    [image(7), 'must hold a data:, gs:// or https:// URL'],
    [{ type: 'file', file: { file_id: 'file-1' } }, 'must hold a data:, gs:// or https:// URL'],
    [image('http://h/a.png'), 'its URL must begin with'],
    [image('file:///etc/passwd'), 'its URL must begin with'],
    [image('https://'), 'its URL must begin with'],
    [image('https://h/a'), 'set mime_type'],
    [image('https://h/a.exe'), 'set mime_type'],
    [image('https://h/a', { mime_type: 'picture' }), 'its media type must be like image/png'],
    [image('https://h/a', { mime_type: 'a/b', media_type: 'a/c' }), 'contradict each other'],
    [image('data:image/png;base64,QQ', { mime_type: 'image/gif' }), 'contradict each other'],
    [image('data:image/png,QQ'), 'must be in base64'],
    [image('data:image/png'), 'must be in base64'],
    // Guards would not read these as the texts that they are.
    [image('data:text/plain;base64;x=y,QUJD'), 'must be in base64'],
    [image('data: text/plain;base64,QUJD'), 'has no media type'],
    [{ type: 'file', file: { data: 'QUJD', format: 'txt' } }, 'set media_type to the type'],
    [
      { type: 'file', file: { data: 'QUJD', media_type: 'text/plain; charset=utf-8' } },
      'set media_type to the type',
    ],
    [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
      'must hold a data:',
    ],
    [{ type: 'input_audio', input_audio: { data: 'QUJD' } }, 'must have a media type and data'],
    [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'loud' } }, 'its media type must'],
    [image('data:;base64,QQ'), 'has no media type'],
    [{ type: 'document', source: { type: 'base64', data: 'QQ' } }, 'must have a media type'],
  ] as [JsonObject, string][])('refused: %j', (part, message) => {
    const text = refusal(() => mediaPart(part, 'messages.0.content.0'))
    expect(text).toStartWith('messages.0.content.0')
    expect(text).toContain(message)
  })
})
