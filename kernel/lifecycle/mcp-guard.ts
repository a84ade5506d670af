import {
  GatewayError,
  type GuardedContent,
  type GuardPhase,
  type GuardPolicy,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type McpServer,
} from '../plugin/index.ts'
import { repeatsKey } from '../protocol/json-keys.ts'
import {
  type RpcMessage,
  responsesIn,
  rpcErrorText,
  type ToolCall,
  withArguments,
} from '../protocol/json-rpc.ts'
import { responseTexts } from '../protocol/mcp-result.ts'
import { createSseBlocks, type SseBlock, withData } from '../protocol/sse-blocks.ts'
import { GuardDenial } from './guard.ts'
import { rpcError } from './mcp-errors.ts'
import type { McpCall, McpServices } from './mcp-exchange.ts'
import type { Invocation } from './mcp-invocation.ts'
import { readWhole, upstreamFailure } from './mcp-stream.ts'
import { closeUnanswered, hear, hearLate } from './mcp-tap.ts'

interface Judged {
  readonly server: McpServer
  readonly requestId: string
  readonly invocation: Invocation | undefined
}

/** The message as it may go to the server. Throws GuardDenial, with nothing sent and no secret read. */
export async function guardCall(
  policy: GuardPolicy,
  message: RpcMessage,
  call: ToolCall,
  facts: Judged,
): Promise<string> {
  if (!policy.covers('mcp_call')) return message.text
  const { place, tool } = call
  const text = place === undefined ? '{}' : message.text.slice(place.from, place.to)
  const content = await inspect(policy, facts, 'mcp_call', {
    kind: 'tool_calls',
    calls: [{ tool, arguments: text }],
  })
  const other = content?.kind === 'tool_calls' ? content.calls[0]?.arguments : undefined
  if (other === undefined || other === text) return message.text
  if (place !== undefined && isObjectText(other)) return withArguments(message, call, other)
  throw new GatewayError('internal_error', 'a guardrail made arguments that are none')
}

/** The content to go on with; undefined: as it is. Throws GuardDenial. */
async function inspect(
  policy: GuardPolicy,
  { server, requestId, invocation }: Judged,
  phase: GuardPhase,
  content: GuardedContent,
): Promise<GuardedContent | undefined> {
  const verdict = await policy.inspect({
    phase,
    content,
    requestId,
    ...(invocation === undefined ? {} : { mcpInvocationId: invocation.id }),
    server: { key: server.serverKey, aliases: server.aliases },
  })
  if (verdict.action === 'deny') throw new GuardDenial(verdict)
  invocation?.allowed(verdict.decisionId)
  return verdict.content
}

function judgedOf({ server, incoming, invocation }: McpCall): Judged {
  return { server, requestId: incoming.requestId, invocation }
}

/** Other responses in the place of these; undefined: they may pass as they are. Throws GuardDenial. */
async function judge(
  call: McpCall,
  responses: readonly JsonObject[],
): Promise<readonly JsonObject[] | undefined> {
  const { segments, replace } = responseTexts(responses)
  if (call.resultGuard === undefined || segments.length === 0) return undefined
  const content = { kind: 'text', segments } as const
  const other = await inspect(call.resultGuard, judgedOf(call), 'mcp_result', content)
  if (other?.kind !== 'text') return undefined
  const replaced = replace(other.segments)
  if (replaced !== undefined) return replaced
  throw new GatewayError('internal_error', 'a guardrail made a result that is none')
}

/** The text of an error as the caller may have it. Throws GuardDenial. */
export async function guardErrorText(call: McpCall, text: string): Promise<string> {
  if (call.resultGuard === undefined || text === '') return text
  const content = { kind: 'text', segments: [text] } as const
  const other = await inspect(call.resultGuard, judgedOf(call), 'mcp_result', content)
  return other?.kind === 'text' ? (other.segments[0] ?? '') : text
}

/** A message of the server, and those responses in it that have to be judged. */
interface Heard {
  readonly value: JsonValue
  readonly responses: readonly JsonObject[]
}

/** Throws `upstream_transport` for what clients may read in different ways. */
function read(call: McpCall, text: string): Heard {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (cause) {
    throw malformed('something that is not JSON', cause)
  }
  const responses = responsesIn(value)
  if (responses.length > 0 && repeatsKey(text, 0, value)) {
    throw malformed('an object with a key that stands in it twice')
  }
  // Lists and prompts that were asked for are no results of tools.
  const { request, invocation } = call
  const judged =
    invocation !== undefined || request === undefined
      ? responses
      : responses.filter(({ id }) => id !== request.id)
  return { value, responses: judged }
}

function malformed(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `the server sent ${what}`, { cause })
}

/** The message with some of its responses replaced. */
function encode({ value, responses }: Heard, replaced: readonly JsonObject[]): string {
  const at = (message: JsonValue) => {
    const index = responses.indexOf(message as JsonObject)
    return index === -1 ? message : (replaced[index] as JsonObject)
  }
  return JSON.stringify(Array.isArray(value) ? value.map(at) : at(value))
}

/**
 * A reply of which nothing leaves before a guard has seen it: of a tool call all of it up to its
 * result, of anything else that comes as JSON all of it. Throws GuardDenial, `guardrail_timeout`,
 * `guarded_response_too_large`.
 */
export async function guardedReply(
  call: McpCall,
  { body, events }: { readonly body: ReadableStream<Uint8Array>; readonly events: boolean },
  services: McpServices,
): Promise<string> {
  const { upstream, resultGuard } = call
  const maxBytes = resultGuard?.streamBufferBytes ?? 0
  const late = () =>
    upstream.abort(
      new GatewayError('guardrail_timeout', 'the result did not come while it could be held back'),
    )
  const timer = setTimeout(late, resultGuard?.streamBufferTimeoutMs ?? 0)
  try {
    if (events) return await collectEvents(call, body, maxBytes, services)
    const { idleMs } = services.limits
    const bytes = await readWhole(body, { maxBytes, idleMs, upstream, tooLarge })
    const passed = await passJson(call, decode(bytes), services)
    closeUnanswered(call, 'ended', false)
    return passed
  } catch (error) {
    throw upstreamFailure(error, upstream)
  } finally {
    clearTimeout(timer)
  }
}

async function passJson(call: McpCall, text: string, services: McpServices): Promise<string> {
  if (text.trim() === '') return text
  const heard = read(call, text)
  const replaced = await judge(call, heard.responses)
  const passed = replaced === undefined ? text : encode(heard, replaced)
  call.invocation?.sent(Buffer.byteLength(passed))
  hear(replaced === undefined ? heard.value : (JSON.parse(passed) as JsonValue), call, services)
  return passed
}

/** The events of a tool call up to the one with its result. */
async function collectEvents(
  call: McpCall,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  services: McpServices,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = createSseBlocks()
  const reader = body.getReader()
  const passed: string[] = []
  let size = 0
  let resumable = false
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) throw tooLarge()
    for (const block of splitter.push(decodePiece(decoder, value))) {
      resumable ||= block.hasId
      const { text, answered } = await passBlock(call, block, services)
      passed.push(text)
      if (!answered) continue
      // Whatever came behind the result would not be waited for.
      reader.cancel().catch(() => {})
      return passed.join('')
    }
  }
  closeUnanswered(call, 'ended', resumable)
  return passed.join('')
}

async function passBlock(
  call: McpCall,
  block: SseBlock,
  services: McpServices,
): Promise<{ readonly text: string; readonly answered: boolean }> {
  const { request, invocation } = call
  if (block.data === undefined || block.data.trim() === '') {
    return { text: block.raw, answered: false }
  }
  const heard = read(call, block.data)
  const replaced = await judge(call, heard.responses)
  const responses = replaced ?? heard.responses
  const text = replaced === undefined ? block.raw : withData(block, encode(heard, replaced))
  const answer = responses.find(({ id }) => id === request?.id)
  if (answer === undefined) return { text, answered: false }
  invocation?.sent(Buffer.byteLength(text))
  hear(responses as JsonObject[], call, services)
  return { text, answered: true }
}

const utf8 = new TextEncoder()

/**
 * Passes a stream on event by event, each response only when a guard lets it; one that is denied
 * becomes an error with the same id.
 */
export function guardedEvents(
  call: McpCall,
  services: McpServices,
): (bytes: Uint8Array) => Promise<Uint8Array | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = createSseBlocks()
  const maxChars = call.resultGuard?.streamBufferBytes ?? 0

  async function pass(block: SseBlock): Promise<string> {
    if (block.data === undefined || block.data.trim() === '') return block.raw
    const heard = read(call, block.data)
    const { responses } = heard
    if (responses.length === 0) return block.raw
    const settle = (passed: readonly JsonObject[], text: string, denial?: GuardDenial) => {
      const bytes = Buffer.byteLength(text)
      for (const response of passed) hearLate(response, call, { denial, bytes }, services)
      return text
    }
    try {
      const replaced = await judge(call, responses)
      if (replaced === undefined) return settle(responses, block.raw)
      return settle(replaced, withData(block, encode(heard, replaced)))
    } catch (error) {
      if (!(error instanceof GuardDenial)) throw error
      const told = rpcError(error, call.incoming.requestId)
      const errors = responses.map(({ id = null }) => rpcErrorText(JSON.stringify(id), told))
      return settle(responses, errors.map((text) => withData(block, text)).join(''), error)
    }
  }

  return async (bytes) => {
    const passed: string[] = []
    for (const block of splitter.push(decodePiece(decoder, bytes))) passed.push(await pass(block))
    if (splitter.pending > maxChars) throw tooLarge()
    return passed.length === 0 ? undefined : utf8.encode(passed.join(''))
  }
}

function decode(bytes: Uint8Array): string {
  return decodePiece(new TextDecoder('utf-8', { fatal: true }), bytes)
}

function decodePiece(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true })
  } catch (cause) {
    throw malformed('something that is not UTF-8', cause)
  }
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('guarded_response_too_large', 'the result is too large to be checked')
}
