import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { Conversion } from 'model-gateway/surface'
import type { SampleNameCall } from './surface.ts'

/** Lets every route that executes chat completions serve the API. */
export const sampleNameToChat: Conversion<SampleNameCall> = {
  from: 'sample_name',
  to: 'chat_completions',
  request({ model, prompt }) {
    const body = { model, messages: [{ role: 'user', content: prompt }] }
    return () => ({ body })
  },
  reply: ({ choices }, usage, { publicModel, requestId }) => ({
    id: requestId,
    model: publicModel,
    text: textOf(choices as JsonObject[]),
    tokens: usage?.totalTokens ?? null,
  }),
  stream() {
    throw new Error('streams are not supported; read() rejects them')
  },
}

function textOf([choice]: readonly JsonObject[]): string {
  const message = choice?.message
  return isJsonObject(message) && typeof message.content === 'string' ? message.content : ''
}
