import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import { streamEvent } from 'model-gateway/wire'
import uploads from '../uploads/index.ts'
import { images } from './dialect.ts'
import plugin from './index.ts'

const body = { model: 'painter', prompt: 'a river' }
const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 4160,
  total_tokens: 4210,
}
// https://platform.openai.com/docs/api-reference/images/create
const byTokens = {
  created: 1713833628,
  background: 'opaque',
  output_format: 'png',
  quality: 'high',
  size: '1024x1024',
  data: [{ b64_json: 'aWNl' }],
  usage,
}
const byPiece = {
  created: 1589478378,
  data: [{ url: 'https://example.com/1.png', revised_prompt: 'a wide river' }, { b64_json: 'aQ' }],
}
const event = (type: string, members: object) =>
  streamEvent(JSON.stringify({ type, ...members }), type)

testSurface({
  plugin,
  beside: [uploads],
  surfaces: {
    images: {
      takes: [{ ...body, n: 2, size: '1024x1024', stream: true, partial_images: 2 }, body],
      refuses: [
        { body: { model: 'painter' }, field: 'prompt' },
        { body: { ...body, prompt: [] }, field: 'prompt' },
        { body: { ...body, stream: 'yes' }, field: 'stream' },
      ],
    },
    'images.edits': {
      takes: [{ ...body, images: [{ image_url: 'https://example.com/1.png' }] }],
      refuses: [
        { body, field: 'image' },
        { body: { model: 'painter', image: 'aQ' }, field: 'prompt' },
      ],
    },
  },
  dialects: {
    images: {
      replies: [byTokens, byPiece],
      malformed: [{ data: {} }],
      // https://platform.openai.com/docs/api-reference/images-streaming
      stream: [
        event('image_generation.partial_image', {
          b64_json: 'aQ',
          created_at: 1620000000,
          size: '1024x1024',
          quality: 'high',
          background: 'transparent',
          output_format: 'png',
          partial_image_index: 0,
        }),
        event('image_generation.completed', {
          b64_json: 'aWNl',
          created_at: 1620000000,
          size: '1024x1024',
          quality: 'high',
          background: 'transparent',
          output_format: 'png',
          usage,
        }),
      ],
    },
    'images.edits': {
      replies: [byTokens],
      stream: [event('image_edit.completed', { b64_json: 'aWNl', created_at: 1620000000, usage })],
    },
  },
})

test.each([
  [
    'tokens of text and of pictures',
    byTokens,
    {
      uncachedInput: 50,
      output: 4160,
      parts: { input_image: 40, output_image: 4160 },
      uses: { image: 1 },
      tier: 'quality=high+size=1024x1024',
    },
  ],
  ['pictures', byPiece, { uncachedInput: undefined, uses: { image: 2 } }],
  ['none of a usual kind', { data: [], quality: 'standard', size: 'auto' }, undefined],
] as [string, JsonObject, object | undefined][])('%s are counted', (_name, reply, expected) => {
  const { usage: used } = images.readReply(reply)
  if (expected === undefined) expect(used).toBeUndefined()
  else expect(used).toMatchObject(expected)
})

test('a guard sees the revised prompt, but no image', () => {
  const texts = images.views?.replyTexts?.(byPiece)
  expect(texts?.segments).toEqual(['a wide river'])
})

test('sends and counts each complete image of a stream, the last at its end', () => {
  const stream = images.streaming?.open({ publicModel: 'painter', native: true })
  const whole = (b64_json: string) => event('image_generation.completed', { b64_json })
  const part = event('image_generation.partial_image', { b64_json: 'p' })
  const sent = stream?.push([whole('1'), part, whole('2')])
  stream?.end()
  expect(
    [...(sent ?? []), ...(stream?.terminal ?? [])].map(({ data }) => JSON.parse(data)),
  ).toMatchObject([{ b64_json: '1' }, { b64_json: 'p' }, { b64_json: '2' }])
  expect(stream?.usage).toMatchObject({ uses: { image: 2 } })
})
