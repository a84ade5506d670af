import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type ProviderCall, safeUpstreamMessage } from 'model-gateway/provider'
import { isPresent, type StreamEvent } from 'model-gateway/wire'
import { type ChatChunks, createChatChunks, doneEvent, errorEvent } from './chat-chunks.ts'
import { usageFromMessages } from './chat-usage.ts'
import { eventObject } from './event-object.ts'
import { finishReason } from './finish-reason.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { toolCallId } from './reply-ids.ts'
import type { ToolNames } from './tool-names.ts'

/**
 * Converts the events of a messages stream (from `decodeSse`) to chat completion chunks, batch by
 * batch, ended by `[DONE]`. An upstream error becomes an error event, and the stream ends without
 * `[DONE]`. Throws GatewayError `upstream_transport` for malformed events and for a stream without
 * `message_stop`.
 */
export async function* chatChunksFromMessages(
  events: AsyncIterable<readonly StreamEvent[]>,
  call: Pick<ProviderCall, 'body' | 'surface' | 'requestId'>,
  providerType: MessagesDialect['providerType'],
  names: ToolNames,
): AsyncGenerator<readonly StreamEvent[]> {
  const converter = createConverter(call, providerType, names)
  for await (const batch of events) {
    const chunks: StreamEvent[] = []
    try {
      for (const event of batch) {
        if (converter.state === 'open') converter.push(event, chunks)
      }
    } finally {
      // Events before a fault are passed on and charged, however the bytes are cut.
      if (chunks.length > 0) yield chunks
    }
    if (converter.state === 'failed') return
  }
  if (converter.state === 'open') {
    throw new GatewayError('upstream_transport', 'premature end: no message_stop')
  }
}

/** A tool call in progress. */
interface OpenTool {
  readonly index: number
  /** Arguments of a call that sends no fragments. */
  readonly input: JsonValue | undefined
  fragments: boolean
}

function createConverter(
  call: Pick<ProviderCall, 'body' | 'surface' | 'requestId'>,
  providerType: MessagesDialect['providerType'],
  names: ToolNames,
) {
  let state: 'open' | 'complete' | 'failed' = 'open'
  let chunks: ChatChunks | undefined
  let usage: JsonObject | undefined
  let finished = false
  let toolCount = 0
  /** By the index of their content block. */
  const tools = new Map<JsonValue | undefined, OpenTool>()

  function reasoning(block: JsonObject): JsonObject {
    return {
      [providerType]: { reasoning: { source: 'anthropic_messages_stream', blocks: [block] } },
    }
  }

  function begin(message: JsonObject, out: StreamEvent[]): ChatChunks {
    usage = mergeUsage(usage, message.usage)
    if (chunks !== undefined) return chunks
    chunks = createChatChunks(call, message.id)
    const providerModel = typeof message.model === 'string' ? message.model : undefined
    out.push(chunks.role({ providerModel, usage: usageFromMessages(usage) }))
    return chunks
  }

  function startBlock(data: JsonObject, out: StreamEvent[]): void {
    const block = objectIn(data, 'content_block')
    const to = chunks ?? begin({}, out)
    if (block.type === 'text') {
      if (typeof block.text === 'string' && block.text !== '') out.push(to.text(block.text))
    } else if (block.type === 'tool_use') {
      const index = toolCount++
      tools.set(data.index, { index, input: block.input, fragments: false })
      out.push(to.toolStart(index, toolCallId(block.id), names.asked(String(block.name))))
    } else if (block.type === 'redacted_thinking') {
      const metadata = reasoning({ type: 'redacted_thinking', data: block.data ?? '' })
      out.push(to.providerMetadata(metadata))
    }
  }

  function takeDelta(data: JsonObject, out: StreamEvent[]): void {
    const delta = objectIn(data, 'delta')
    const to = chunks ?? begin({}, out)
    switch (delta.type) {
      case 'text_delta':
        out.push(to.text(stringIn(delta, 'text')))
        break
      case 'input_json_delta': {
        const fragment = stringIn(delta, 'partial_json')
        const tool = tools.get(data.index)
        if (tool === undefined || fragment === '') break
        tool.fragments = true
        out.push(to.toolArguments(tool.index, fragment))
        break
      }
      case 'thinking_delta': {
        const thinking = stringIn(delta, 'thinking')
        out.push(to.providerMetadata(reasoning({ type: 'thinking_delta', thinking })))
        break
      }
      case 'signature_delta': {
        const signature = stringIn(delta, 'signature')
        out.push(to.providerMetadata(reasoning({ type: 'signature_delta', signature })))
        break
      }
    }
  }

  function stopBlock(data: JsonObject, out: StreamEvent[]): void {
    const tool = tools.get(data.index)
    tools.delete(data.index)
    if (tool === undefined || tool.fragments) return
    out.push((chunks ?? begin({}, out)).toolArguments(tool.index, JSON.stringify(tool.input ?? {})))
  }

  function finish(reason: JsonValue | undefined, out: StreamEvent[]): void {
    finished = true
    out.push((chunks ?? begin({}, out)).finish(finishReason(reason), usageFromMessages(usage)))
  }

  function laterUsage(): StreamEvent[] {
    const counters = usageFromMessages(usage)
    return chunks === undefined || counters === undefined ? [] : [chunks.usage(counters)]
  }

  function push(event: StreamEvent, out: StreamEvent[]): void {
    const data = eventObject(event)
    if (data.type === 'error' || isPresent(data.error)) {
      state = 'failed'
      out.push(errorEvent(call, data))
      return
    }
    switch (data.type) {
      case 'message_start':
        begin(objectIn(data, 'message'), out)
        break
      case 'content_block_start':
        startBlock(data, out)
        break
      case 'content_block_delta':
        takeDelta(data, out)
        break
      case 'content_block_stop':
        stopBlock(data, out)
        break
      case 'message_delta': {
        usage = mergeUsage(usage, data.usage)
        const { stop_reason: reason } = objectIn(data, 'delta')
        if (finished) out.push(...laterUsage())
        else if (typeof reason === 'string') finish(reason, out)
        break
      }
      case 'message_stop':
        if (!finished) finish(undefined, out)
        out.push(doneEvent)
        state = 'complete'
        break
      case undefined:
        // Bedrock reports failures as objects that are not events.
        if (typeof data.message === 'string') {
          throw malformed(`it has no type, but says: ${safeUpstreamMessage(data.message)}`)
        }
    }
  }

  return {
    push,
    get state() {
      return state
    },
  }
}

/** Counters are cumulative, so the greatest value applies; a missing one changes nothing. */
function mergeUsage(
  usage: JsonObject | undefined,
  more: JsonValue | undefined,
): JsonObject | undefined {
  if (!isJsonObject(more)) return usage
  const merged = { ...usage }
  for (const [name, value] of Object.entries(more)) {
    if (value === undefined || value === null) continue
    const before = merged[name]
    merged[name] =
      typeof value === 'number' && typeof before === 'number' ? Math.max(value, before) : value
  }
  return merged
}

function objectIn(data: JsonObject, name: string): JsonObject {
  const value = data[name]
  if (!isJsonObject(value)) throw malformed(`${name} is not an object`)
  return value
}

function stringIn(delta: JsonObject, name: string): string {
  const value = delta[name]
  if (typeof value !== 'string') throw malformed(`${name} is not a string`)
  return value
}

function malformed(what: string): GatewayError {
  return new GatewayError('upstream_transport', `malformed event: ${what}`)
}
