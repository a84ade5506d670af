import type { SentResponse } from 'model-gateway/observer'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'
import { type BoundedJson, encodeBounded, fits } from '../_shared/bounded-json.ts'
import { REDACTED } from '../_shared/secret-text.ts'
import { isSensitiveHeader } from '../_shared/sensitive-names.ts'
import { plainStream } from './plain-stream.ts'
import type { PayloadPolicy } from './policy.ts'
import { readEvents } from './stream-events.ts'

/** The sources of a payload row. They keep bodies in memory. */
export interface RawPayload {
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject | undefined
  readonly response: SentResponse
  readonly usage: Usage | undefined
}

/**
 * Encodes a payload as members of a row: `request` and `response`, and whether either is truncated.
 * It yields after steps of at most one or two milliseconds.
 */
export function* encodePayload(
  raw: RawPayload,
  policy: PayloadPolicy,
): Generator<undefined, string> {
  const { wire } = policy
  const headers = redactHeaders(raw.headers)
  const body = raw.body ?? null
  const sizeOf = () => statedSize(headers)
  const sent = encodeBounded({ headers, body }, policy.paths, wire.request_max_bytes, { sizeOf })
  const received =
    raw.response.kind === 'buffered'
      ? encodeReply(raw.response, policy)
      : encodeStream(raw.response, raw.usage, policy)
  // Fast path: a generator costs more than most payloads.
  const request = 'json' in sent ? sent : yield* sent
  const response = 'json' in received ? received : yield* received
  return `"request":${request.json},"response":${response.json},"request_truncated":${request.truncated},"response_truncated":${response.truncated}`
}

function encodeReply({ body, bytes }: SentReply, { paths, wire }: PayloadPolicy) {
  const sizeOf = () => bytes && Buffer.byteLength('{"body":}') + bytes
  return encodeBounded({ body }, paths, wire.response_max_bytes, { sizeOf })
}

type SentReply = Extract<SentResponse, { kind: 'buffered' }>
type SentStream = Extract<SentResponse, { kind: 'stream' }>

function* encodeStream(
  sent: SentStream,
  used: Usage | undefined,
  policy: PayloadPolicy,
): Generator<undefined, BoundedJson> {
  const { stream_max_events, response_max_bytes } = policy.wire
  const kept = sent.events.slice(0, stream_max_events)
  const truncated = kept.length < sent.eventCount
  const usage = usageOf(used)
  if (sent.error === undefined && policy.paths === undefined) {
    const events = plainStream(kept)
    const json = `{"stream":true,"events":${events},"usage":${JSON.stringify(usage)},"error":null}`
    if (events !== undefined && fits(json, response_max_bytes)) return { json, truncated }
  }
  const error = sent.error && { code: sent.error.code, message: sent.error.message }
  const wrapped = { stream: true, events: yield* readEvents(kept), usage, error: error ?? null }
  const incomplete = truncated
  const bounded = encodeBounded(wrapped, policy.paths, response_max_bytes, { incomplete })
  return 'json' in bounded ? bounded : yield* bounded
}

/**
 * Bytes of headers and body, if the caller stated a content-length, which the server has checked.
 */
function statedSize(headers: JsonObject): number | undefined {
  const stated = Number(headers['content-length'])
  if (!(stated > 0)) return undefined
  return Buffer.byteLength(`{"headers":${JSON.stringify(headers)},"body":}`) + stated
}

/** Cache of header names. They come from callers, but are nearly always the same. */
const headerKinds = new Map<string, boolean>()
const MOST_KINDS = 512

function redactHeaders(headers: Readonly<Record<string, string>>): JsonObject {
  const kept: Record<string, JsonValue> = {}
  for (const name in headers) {
    let sensitive = headerKinds.get(name)
    if (sensitive === undefined) {
      sensitive = isSensitiveHeader(name)
      if (headerKinds.size === MOST_KINDS) headerKinds.clear()
      headerKinds.set(name, sensitive)
    }
    kept[name] = sensitive ? REDACTED : (headers[name] as string)
  }
  return kept
}

/** Usage, with the column names of the summary. */
function usageOf(usage: Usage | undefined): JsonValue {
  if (usage === undefined) return null
  return {
    prompt_tokens: usage.promptTokens ?? null,
    completion_tokens: usage.output ?? null,
    total_tokens: usage.totalTokens ?? null,
    cache_read_tokens: usage.cacheRead ?? null,
    cache_write_tokens: usage.cacheWrite ?? null,
    reasoning_tokens: usage.reasoning ?? null,
  }
}
