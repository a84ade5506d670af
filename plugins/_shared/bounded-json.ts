import type { JsonObject } from 'model-gateway/plugin'
import { measure } from './measure.ts'
import { prune } from './prune.ts'
import type { PathNode } from './redaction-paths.ts'
import { storableJson, wholeCharacters } from './safe-text.ts'

export interface BoundedJson {
  readonly json: string
  readonly truncated: boolean
}

/**
 * A wrapped payload as JSON that may be kept: without secrets and bulky fields, within a limit in
 * bytes; of a larger one the beginning, as `{"truncated":true,"size_bytes":n,"preview":"…"}`. It
 * pauses between steps of at most a millisecond or two. `incomplete`: something is left out already.
 */
export function* encodeBounded(
  wrapped: JsonObject,
  paths: PathNode | undefined,
  maxBytes: number,
  incomplete = false,
): Generator<undefined, BoundedJson> {
  const { value, over, tooDeep } = prune(wrapped, paths, maxBytes)
  const json = storableJson(JSON.stringify(value))
  if (!over && fits(json, maxBytes)) {
    return { json, truncated: incomplete || tooDeep }
  }
  const size = yield* measure(wrapped)
  return { json: preview(json, size, maxBytes), truncated: true }
}

export function fits(json: string, maxBytes: number): boolean {
  // A UTF-16 unit takes three bytes at most.
  return json.length * 3 <= maxBytes || Buffer.byteLength(json) <= maxBytes
}

/** `{"truncated":true,"size_bytes":n,"preview":"…"}` within a limit in bytes. */
function preview(json: string, size: number, maxBytes: number): string {
  const head = `{"truncated":true,"size_bytes":${size},"preview":`
  const room = Math.max(0, maxBytes - head.length - 3)
  let text = wholeCharacters(json.slice(0, room))
  for (;;) {
    const quoted = JSON.stringify(text)
    const bytes = Buffer.byteLength(quoted) - 2
    if (bytes <= room) return `${head}${quoted}}`
    text = wholeCharacters(text.slice(0, Math.floor((text.length * room) / bytes)))
  }
}
