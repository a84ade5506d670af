import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import type { StreamEvent } from 'model-gateway/wire'
import { createChatChunks, doneEvent, errorEvent } from '../_shared/chat-chunks.ts'
import { usageFromConverse } from '../_shared/chat-usage.ts'
import type { EventStreamFrame } from '../_shared/event-stream.ts'
import { finishReason } from '../_shared/finish-reason.ts'
import type { Redact } from '../_shared/redact.ts'
import { toolCallId } from '../_shared/reply-ids.ts'
import { imagePart, keptFacts, providerMetadata } from './metadata.ts'
import { bytesOf, type ReplyFacts } from './unified-reply.ts'
import { isServerTool } from './unified-tools.ts'

/**
 * Converts the frames of a Converse stream to chat completion chunks, batch by batch, ended by
 * `[DONE]`. An exception or error frame becomes an error event, and the stream ends without
 * `[DONE]`. Throws GatewayError `upstream_transport` for malformed frames and for a stream without
 * `messageStop`.
 */
export async function* chatChunksFromUnified(
  frames: AsyncIterable<readonly EventStreamFrame[]>,
  call: Pick<ProviderCall, 'body' | 'surface' | 'requestId'>,
  facts: ReplyFacts,
  seams: Seams,
): AsyncGenerator<readonly StreamEvent[]> {
  const converter = createConverter(call, facts, seams)
  for await (const batch of frames) {
    const chunks: StreamEvent[] = []
    try {
      for (const frame of batch) {
        if (!converter.failed) converter.push(frame, chunks)
      }
    } finally {
      // Frames before a fault are passed on and charged, however the bytes are cut.
      if (chunks.length > 0) yield chunks
    }
    if (converter.failed) return
  }
  if (!converter.started) throw new GatewayError('upstream_transport', 'empty stream: no frame')
  if (!converter.stopped) {
    throw new GatewayError('upstream_transport', 'premature end: no messageStop')
  }
  yield [doneEvent]
}

interface Seams {
  /** Called for each event of an unknown kind. */
  unknownEvent(): void
  readonly redact: Redact
}

interface OpenImage {
  readonly format: JsonValue | undefined
  /** Each is encoded in base64 separately. */
  readonly pieces: string[]
}

interface OpenTool {
  readonly index: number
  fragments: boolean
}

function createConverter(
  call: Pick<ProviderCall, 'body' | 'surface' | 'requestId'>,
  reply: ReplyFacts,
  { unknownEvent, redact }: Seams,
) {
  const chunks = createChatChunks(call, reply.id)
  let started = false
  let stopped = false
  let failed = false
  let toolCount = 0
  /** By `contentBlockIndex`. */
  const tools = new Map<JsonValue | undefined, OpenTool>()
  const images = new Map<JsonValue | undefined, OpenImage>()

  function kept(metadata: JsonObject): StreamEvent {
    return chunks.providerMetadata(providerMetadata(metadata))
  }
  function reasoning(block: JsonObject): StreamEvent {
    return kept({ reasoning: { source: 'unified_stream', blocks: [block] } })
  }

  function startBlock({ contentBlockIndex, start }: JsonObject): StreamEvent[] {
    if (isJsonObject(start) && isJsonObject(start.image)) {
      images.set(contentBlockIndex, { format: start.image.format, pieces: [] })
    }
    const toolUse = isJsonObject(start) ? start.toolUse : undefined
    if (!isJsonObject(toolUse) || isServerTool(toolUse)) return []
    const index = toolCount++
    tools.set(contentBlockIndex, { index, fragments: false })
    return [
      chunks.toolStart(
        index,
        toolCallId(toolUse.toolUseId),
        reply.names.asked(String(toolUse.name)),
      ),
    ]
  }

  function takeDelta({ contentBlockIndex, delta }: JsonObject): StreamEvent[] {
    if (!isJsonObject(delta)) return []
    const { text, toolUse, toolResult, reasoningContent, citation, image } = delta
    if (typeof text === 'string') return text === '' ? [] : [chunks.text(text)]
    if (isJsonObject(toolUse)) {
      const tool = tools.get(contentBlockIndex)
      const { input } = toolUse
      if (tool === undefined || typeof input !== 'string' || input === '') return []
      tool.fragments = true
      return [chunks.toolArguments(tool.index, input)]
    }
    if (isJsonObject(reasoningContent)) return reasoningDeltas(reasoningContent)
    if (isJsonObject(citation)) return [kept({ citations: [citation] })]
    const piece = isJsonObject(image) ? bytesOf(image) : undefined
    const open = images.get(contentBlockIndex)
    if (piece !== undefined && open !== undefined) {
      open.pieces.push(piece)
      return []
    }
    // Results of hosted tools are not sent to the caller; other events are.
    const shown = toolResult !== undefined || Object.keys(delta).length === 0
    return shown ? [] : [kept({ content: [delta] })]
  }

  function reasoningDeltas({ text, signature, redactedContent }: JsonObject): StreamEvent[] {
    if (typeof text === 'string') return [reasoning({ type: 'reasoning_text', text })]
    if (typeof signature === 'string')
      return [reasoning({ type: 'reasoning_signature', signature })]
    return typeof redactedContent === 'string'
      ? [reasoning({ type: 'redacted_reasoning', data: redactedContent })]
      : []
  }

  function stopBlock({ contentBlockIndex }: JsonObject): StreamEvent[] {
    const { format, pieces } = images.get(contentBlockIndex) ?? { format: undefined, pieces: [] }
    images.delete(contentBlockIndex)
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
    const image = imagePart(format, bytes.toString('base64'))
    if (image !== undefined) return [chunks.images([image])]
    const tool = tools.get(contentBlockIndex)
    tools.delete(contentBlockIndex)
    return tool === undefined || tool.fragments ? [] : [chunks.toolArguments(tool.index, '{}')]
  }

  function stop(payload: JsonObject): StreamEvent[] {
    stopped = true
    return [...facts(payload), chunks.finish(finishReason(payload.stopReason))]
  }

  /** The facts of an event. The last event comes after the finish reason. */
  function facts(payload: JsonObject): StreamEvent[] {
    const facts = keptFacts(payload)
    return Object.keys(facts).length === 0 ? [] : [kept(facts)]
  }

  const converters: Readonly<Record<string, (payload: JsonObject) => StreamEvent[]>> = {
    messageStart: () => [chunks.role({ providerModel: reply.model })],
    contentBlockStart: startBlock,
    contentBlockDelta: takeDelta,
    contentBlockStop: stopBlock,
    messageStop: stop,
    metadata(payload) {
      const usage = usageFromConverse(payload)
      return [...facts(payload), ...(usage === undefined ? [] : [chunks.usage(usage)])]
    },
  }

  function fail({ headers, payload }: EventStreamFrame): StreamEvent {
    failed = true
    const code = headers.get(':exception-type') ?? headers.get(':error-code')
    const stated = messageIn(payload) ?? headers.get(':error-message')
    const message = typeof stated === 'string' ? redact(stated) : null
    return errorEvent(call, { error: { code: typeof code === 'string' ? code : null, message } })
  }

  return {
    push(frame: EventStreamFrame, out: StreamEvent[]): void {
      started = true
      const type = frame.headers.get(':message-type')
      if (type === 'exception' || type === 'error') {
        out.push(fail(frame))
        return
      }
      const event = frame.headers.get(':event-type')
      if (typeof event !== 'string') throw malformed('it has no :event-type')
      const convert = Object.hasOwn(converters, event) ? converters[event] : undefined
      if (convert === undefined) {
        unknownEvent()
        return
      }
      const text = readText(frame.payload)
      const short = event === 'contentBlockDelta' && text.length <= LONGEST_MATCHED
      const literal = short ? TEXT_DELTA.exec(text)?.[1] : undefined
      if (literal !== undefined) out.push(chunks.textLiteral(literal))
      else out.push(...convert(readPayload(text)))
    },
    get started() {
      return started
    },
    get stopped() {
      return stopped
    },
    get failed() {
      return failed
    },
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Matches the payload of nearly each frame exactly as the service writes it, so that its text need
 * not be parsed and serialized. Other payloads are parsed.
 */
const TEXT_DELTA =
  /^\{"contentBlockIndex":\d{1,9},"delta":\{"text":("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))+")\}(?:,"p":"\w*")?\}$/

/** Long texts are parsed, because the regular expression is slow for them. */
const LONGEST_MATCHED = 8192

function readText(payload: Uint8Array): string {
  if (payload.length === 0) throw malformed('it has no payload')
  try {
    return utf8.decode(payload)
  } catch (cause) {
    throw malformed('its payload is not valid UTF-8', cause)
  }
}

function readPayload(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed('its payload is not JSON', cause)
  }
  if (!isJsonObject(value)) throw malformed('its payload is not a JSON object')
  return value
}

function messageIn(payload: Uint8Array): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(payload))
    return isJsonObject(value) ? (value.message ?? value.Message) : undefined
  } catch {
    return undefined
  }
}

function malformed(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `malformed frame: ${what}`, { cause })
}
