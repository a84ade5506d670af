import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceCall, SurfaceDoor } from 'model-gateway/surface'
import { isUpload, type Uploads } from 'model-gateway/uploads'
import { invalid, readCommon } from 'model-gateway/wire'

export const EDITS = 'images.edits'

/** Images are files of a form or, in JSON, URLs. */
export function createEditsDoor(uploads: () => Uploads): SurfaceDoor {
  return {
    read: (call) => uploads().receive(call, 'image'),
    write(reply, call) {
      uploads().release(call)
      return reply
    },
  }
}

/** Throws GatewayError `invalid_request` with the field name. */
export function readEdits(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be a form or a JSON object')
  const call = readCommon(value)
  const { image, images, prompt } = value
  const sent = [image ?? images].flat()
  const isGiven = (each: JsonValue | undefined) =>
    isUpload(each) || typeof each === 'string' || isJsonObject(each)
  if (sent.length === 0 || !sent.every(isGiven)) {
    throw invalid('image must be a file or a list of files; in JSON, images must be a list of URLs')
  }
  if (typeof prompt !== 'string' || prompt === '') {
    throw invalid('prompt must be a non-empty string')
  }
  return { ...call, features: call.stream ? ['stream'] : [], exposedToolCount: undefined }
}
