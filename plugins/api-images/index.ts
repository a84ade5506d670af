import { definePlugin, isJsonObject, type JsonValue, Type } from 'model-gateway/plugin'
import { dialects, type SurfaceCall, surfaces } from 'model-gateway/surface'
import { uploads } from 'model-gateway/uploads'
import { invalid, readCommon } from 'model-gateway/wire'
import { IMAGES, images } from './dialect.ts'
import { createEditsDoor, EDITS, readEdits } from './edits.ts'

function readImages(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const call = readCommon(value)
  const { prompt } = value
  if (typeof prompt !== 'string' || prompt === '')
    throw invalid('prompt must be a non-empty string')
  return { ...call, features: call.stream ? ['stream'] : [], exposedToolCount: undefined }
}

/** `POST /v1/images/generations` and `/v1/images/edits`. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-images',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s image generation and editing API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    uses: { uploads },
    dialects: [IMAGES, EDITS],
  },
  setup(ctx) {
    ctx.provide(dialects, images)
    ctx.provide(surfaces, {
      id: IMAGES,
      paths: ['/v1/images/generations'],
      dialect: IMAGES,
      operation: IMAGES,
      read: ({ json }) => readImages(json),
    })
    ctx.provide(dialects, { ...images, id: EDITS })
    ctx.provide(surfaces, {
      id: EDITS,
      paths: ['/v1/images/edits'],
      door: createEditsDoor(ctx.uses.uploads),
      dialect: EDITS,
      operation: EDITS,
      read: ({ json }) => readEdits(json),
    })
  },
})
