import type { JsonObject } from 'model-gateway/plugin'
import { measure } from './measure.ts'
import { prune } from './prune.ts'
import type { PathNode } from './redaction-paths.ts'
import { storableJson, wholeCharacters } from './safe-text.ts'

export interface BoundedJson {
  readonly json: string
  readonly truncated: boolean
}

export interface BoundedOptions {
  /** Something is already left out. */
  readonly incomplete?: boolean
  /** Size of the whole in bytes, if known; measuring it takes as long as the rest. */
  readonly sizeOf?: () => number | undefined
}

/**
 * A wrapped payload as JSON for storage: without secrets and bulky fields, and limited in bytes; of
 * a larger one only the start, as `{"truncated":true,"size_bytes":n,"preview":"…"}`. Runs in steps
 * of one or two milliseconds, because it may take long.
 */
export function encodeBounded(
  wrapped: JsonObject,
  paths: PathNode | undefined,
  maxBytes: number,
  { incomplete = false, sizeOf }: BoundedOptions = {},
): BoundedJson | Generator<undefined, BoundedJson> {
  const { value, over, tooDeep } = prune(wrapped, paths, maxBytes)
  const json = storableJson(JSON.stringify(value))
  if (!over && fits(json, maxBytes)) {
    return { json, truncated: incomplete || tooDeep }
  }
  return encodeBeginning(json, wrapped, maxBytes, sizeOf)
}

function* encodeBeginning(
  json: string,
  wrapped: JsonObject,
  maxBytes: number,
  sizeOf: BoundedOptions['sizeOf'],
): Generator<undefined, BoundedJson> {
  const size = sizeOf?.() ?? (yield* measure(wrapped))
  return { json: preview(json, size, maxBytes), truncated: true }
}

export function fits(json: string, maxBytes: number): boolean {
  // A UTF-16 unit takes at most three bytes.
  return json.length * 3 <= maxBytes || Buffer.byteLength(json) <= maxBytes
}

/** `{"truncated":true,"size_bytes":n,"preview":"…"}` within a limit in bytes. */
function preview(json: string, size: number, maxBytes: number): string {
  const head = `{"truncated":true,"size_bytes":${size},"preview":"`
  const room = Math.max(0, maxBytes - head.length - 2)
  const quoted = JSON.stringify(wholeCharacters(json.slice(0, room))).slice(1, -1)
  let end = quoted.length
  for (let over = Buffer.byteLength(quoted) - room; over > 0; ) {
    // A UTF-16 unit takes at most three bytes, so this stays within the limit.
    const next = wholeCharacters(quoted.slice(0, end - Math.ceil(over / 3))).length
    over -= Buffer.byteLength(quoted.slice(next, end))
    end = next
  }
  // In JSON text only quotes and backslashes are escaped.
  let slashes = 0
  while (quoted[end - 1 - slashes] === '\\') slashes++
  return `${head}${quoted.slice(0, end - (slashes % 2))}"}`
}
