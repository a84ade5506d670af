import { GatewayError, isJsonObject } from 'model-gateway/plugin'
import type { Surface, SurfaceCall } from 'model-gateway/surface'

/** A request, with the fields that the conversion needs. */
export interface SampleNameCall extends SurfaceCall {
  readonly prompt: string
}

export const sampleNameSurface: Surface<SampleNameCall> = {
  id: 'sample_name',
  paths: ['/v1/sample-name'],
  dialect: 'sample_name',
  operation: 'chat_completions',
  read({ json }) {
    if (!isJsonObject(json)) throw invalid('the request body must be a JSON object')
    const { model, prompt, stream } = json
    if (typeof model !== 'string' || model === '') throw invalid('model must be a non-empty string')
    if (typeof prompt !== 'string') throw invalid('prompt must be a string')
    if (stream !== undefined && stream !== false)
      throw invalid('stream must be false: this API does not stream')
    return { model, prompt, stream: false, features: [], exposedToolCount: undefined }
  },
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
