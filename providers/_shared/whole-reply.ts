import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { type ProviderCall, safeUpstreamMessage, upstreamHttpError } from 'model-gateway/provider'
import {
  decodeSse,
  isPresent,
  readErrorWords,
  type StreamEvent,
  streamEvent,
} from 'model-gateway/wire'
import {
  mayNameError,
  type Redact,
  redactErrorEvents,
  redactErrors,
  redactStrings,
} from './redact.ts'

export type Dialect = ProviderCall['dialect']

export interface WholeReply {
  readonly body: JsonObject
  /** Absent if a credential was masked in it. */
  readonly rawBody?: string
}

interface Answer {
  readonly status: number
  readonly redact: Redact
  /** The member name for a reply that is a bare list. */
  readonly listMember?: string | undefined
}

/** Members of successful replies in each API family and wire format. */
const PAYLOADS = [
  ...['choices', 'output', 'data', 'content', 'candidates', 'predictions', 'results'],
]

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The reply as a JSON object. Throws GatewayError if it is not one, or only an error. */
export function readWhole(bytes: Uint8Array, { status, redact, listMember }: Answer): WholeReply {
  let rawBody: string
  let body: unknown
  try {
    rawBody = utf8.decode(bytes)
    body = JSON.parse(rawBody)
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'the upstream did not answer with JSON', { cause })
  }
  if (Array.isArray(body) && listMember !== undefined) {
    rawBody = `{${JSON.stringify(listMember)}:${rawBody}}`
    body = { [listMember]: body }
  }
  if (!isJsonObject(body)) {
    throw new GatewayError('upstream_transport', 'the upstream did not answer with a JSON object')
  }
  const answers = PAYLOADS.some((name) => name in (body as JsonObject))
  if (answers && !mayNameError(rawBody)) return { body, rawBody }
  // Without a payload, each member may belong to an error.
  const redacted = (answers ? redactErrors : redactStrings)(body, redact) as JsonObject
  refuseErrorInDisguise(redacted, status)
  return redacted === body ? { body, rawBody } : { body: redacted }
}

/** Some upstreams report a failure with status 200 and only an `error`. */
function refuseErrorInDisguise(body: JsonObject, status: number): void {
  if (!isPresent(body.error) && body.object !== 'error') return
  if ('choices' in body || 'output' in body || 'data' in body) return
  const { message = 'the upstream answered with an error', ...upstream } = readErrorWords(body)
  throw upstreamHttpError(status, message, { upstream })
}

/** A whole reply as stream events; also for a body with one event per line. */
export function tellWhole(
  bytes: Uint8Array,
  answer: Answer,
  dialect: Dialect,
): readonly StreamEvent[] {
  const lines = eventLines(bytes)
  if (lines.length > 1) return lines
  const { body } = readWhole(bytes, answer)
  dialect.readReply(body)
  return streamingOf(dialect).tell(body)
}

/** For a dialect that never streams, a stream is not a valid reply. */
function streamingOf({ id, streaming }: Dialect): NonNullable<Dialect['streaming']> {
  if (streaming !== undefined) return streaming
  throw new GatewayError(
    'upstream_transport',
    `the upstream answered with a stream, which ${id} does not support`,
  )
}

/** Lines that are JSON objects; empty if one is not. */
function eventLines(bytes: Uint8Array): StreamEvent[] {
  const lines = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
  try {
    return lines.every((line) => isJsonObject(JSON.parse(line)))
      ? lines.map((line) => streamEvent(line))
      : []
  } catch {
    return []
  }
}

/**
 * The reply that the stream's events add up to. Throws GatewayError, with usage, for a failed
 * stream.
 */
export async function collectWhole(
  bytes: Uint8Array,
  { redact }: Pick<Answer, 'redact'>,
  dialect: Dialect,
  model: string,
): Promise<WholeReply> {
  const streaming = streamingOf(dialect)
  const stream = streaming.open({ publicModel: model, native: true })
  const events: StreamEvent[] = []
  async function* whole() {
    yield bytes
  }
  const failed = (message: string) => {
    const { usage } = stream
    return new GatewayError('upstream_transport', message, usage === undefined ? {} : { usage })
  }
  try {
    for await (const batch of redactErrorEvents(decodeSse(whole()), redact)) {
      events.push(...stream.push(batch))
    }
  } catch (error) {
    throw failed(error instanceof GatewayError ? error.message : 'the stream could not be read')
  }
  stream.end()
  const { failure, terminal } = stream
  if (failure !== undefined) throw failed(safeUpstreamMessage(failure.message))
  return { body: streaming.collect([...events, ...terminal]) }
}
