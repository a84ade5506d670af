import { GuardDenial } from 'model-gateway/guardrail'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import {
  createSseBlocks,
  nestsTooDeep,
  parseExact,
  repeatsKey,
  type SseBlock,
  withData,
} from 'model-gateway/wire'
import { errors, rpcError } from './errors.ts'
import type { McpCall, McpServices } from './exchange.ts'
import { judge } from './guard.ts'
import { misspellsMember } from './json-rpc.ts'
import { sameId, similarIds, withExactIds } from './rpc-id.ts'
import { isResponse, resultsIn, rpcErrorText } from './rpc-response.ts'
import { readWhole, upstreamFailure } from './stream.ts'
import { closeUnanswered, hear, hearLate } from './tap.ts'

/** A message of the server with its responses; a task notification counts as a response. */
interface Heard {
  readonly value: JsonValue
  /** Those that have to be judged. */
  readonly responses: readonly JsonObject[]
  /** Those that need not be. */
  readonly others: readonly JsonObject[]
}

/** Throws `upstream_transport` for JSON that clients may parse in different ways. */
function read(call: McpCall, text: string): Heard {
  if (nestsTooDeep(text)) throw malformed('a message that is nested too deeply')
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch (cause) {
    throw malformed('a message that is not JSON', cause)
  }
  if (repeatsKey(text, 0, value)) throw malformed('an object with a duplicate key')
  if (misspellsMember(value)) throw malformed('a protocol member that is not in lower case')
  withExactIds(text, value)
  const responses = resultsIn(value)
  const { request } = call
  const isOther = ({ id }: JsonObject) =>
    request !== undefined && sameId(id, request.id) && !givesResult(call)
  return {
    value,
    responses: responses.filter((response) => !isOther(response)),
    others: responses.filter(isOther),
  }
}

/**
 * Whether the reply contains output of a tool: the result of a call, or of a task of a call. Lists
 * and prompts are not tool results.
 */
export function givesResult({ invocation, request }: McpCall): boolean {
  return invocation !== undefined || request?.method.startsWith('tasks/') === true
}

function malformed(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `the server sent ${what}`, { cause })
}

/** The message with some responses replaced. */
function encode({ value, responses }: Heard, replaced: readonly JsonObject[]): string {
  const at = (message: JsonValue) => {
    const index = responses.indexOf(message as JsonObject)
    return index === -1 ? message : (replaced[index] as JsonObject)
  }
  return JSON.stringify(Array.isArray(value) ? value.map(at) : at(value))
}

/**
 * Holds a reply back until a guard has judged it: for a tool call everything up to its result, for
 * other requests the whole JSON. Throws GuardDenial, `guardrail_timeout`,
 * `guarded_response_too_large`.
 */
export async function guardedReply(
  call: McpCall,
  { body, events }: { readonly body: ReadableStream<Uint8Array>; readonly events: boolean },
  services: McpServices,
): Promise<string> {
  const { resultGuard } = call
  const { upstream } = call.watch
  const maxBytes = resultGuard?.streamBufferBytes ?? 0
  const late = () =>
    upstream.abort(
      new GatewayError(
        errors.guardrail_timeout,
        'the result was not complete within stream_buffer_timeout_ms of its guardrail policy',
      ),
    )
  const timer = setTimeout(late, resultGuard?.streamBufferTimeoutMs ?? 0)
  try {
    if (events) return await collectEvents(call, body, maxBytes, services)
    const { idleMs } = services.limits
    const bytes = await readWhole(body, { maxBytes, idleMs, upstream, tooLarge })
    const passed = await passJson(call, decode(bytes), services)
    closeUnanswered(call, 'ended')
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
  const told = replaced === undefined ? heard.value : parseExact(passed)
  hear(withExactIds(passed, told), call, services)
  return passed
}

/** The events of a tool call, up to the event with its result. */
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
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) throw tooLarge()
    for (const block of splitter.push(decodePiece(decoder, value))) {
      const { text, answers } = await passBlock(call, block, services)
      passed.push(text)
      if (answers === undefined) continue
      // Events after the result are discarded.
      reader.cancel().catch(() => {})
      const whole = countSent(call, passed)
      hear(answers, call, services)
      return whole
    }
  }
  const whole = countSent(call, passed)
  closeUnanswered(call, 'ended')
  return whole
}

/** The held-back events as a body. */
function countSent({ invocation }: McpCall, passed: readonly string[]): string {
  const whole = passed.join('')
  invocation?.sent(Buffer.byteLength(whole))
  return whole
}

/** `answers`: the responses of the message, if it contains the response to this call. */
async function passBlock(
  call: McpCall,
  block: SseBlock,
  services: McpServices,
): Promise<{ readonly text: string; readonly answers?: JsonObject[] }> {
  const { request } = call
  if (block.data === undefined || block.data.trim() === '') return { text: block.raw }
  const heard = read(call, block.data)
  if (!heard.responses.some(({ id }) => similarIds(id, request?.id))) {
    return { text: await passLate(call, block, heard, services) }
  }
  const replaced = await judge(call, heard.responses)
  const responses = replaced ?? heard.responses
  const text = replaced === undefined ? block.raw : withData(block, encode(heard, replaced))
  if (!responses.some(({ id }) => sameId(id, request?.id))) return { text }
  return { text, answers: responses as JsonObject[] }
}

/**
 * Handles an event with responses to calls of other connections. A response passes only if its
 * guard allows it; a denied one becomes an error with the same id, and denied task notifications
 * are dropped.
 */
async function passLate(
  call: McpCall,
  block: SseBlock,
  heard: Heard,
  services: McpServices,
): Promise<string> {
  const { responses } = heard
  if (responses.length === 0) return block.raw
  const settle = (passed: readonly JsonObject[], text: string, denial?: GuardDenial) => {
    const bytes = Buffer.byteLength(text)
    for (const response of passed) {
      if (sameId(response.id, call.request?.id)) continue
      hearLate(response, call, { denial, bytes }, services)
    }
    return text
  }
  try {
    const replaced = await judge({ ...call, invocation: undefined }, responses)
    if (replaced === undefined) return settle(responses, block.raw)
    return settle(replaced, withData(block, encode(heard, replaced)))
  } catch (error) {
    if (!(error instanceof GuardDenial)) throw error
    const told = rpcError(error, call.incoming.requestId)
    const errors = responses
      .filter(isResponse)
      .map(({ id = null }) => rpcErrorText(JSON.stringify(id), told))
    return settle(responses, errors.map((text) => withData(block, text)).join(''), error)
  }
}

const utf8 = new TextEncoder()

/**
 * Forwards a stream event by event. A response passes only if its guard allows it; a denied one
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
    hear(heard.others as JsonObject[], call, services)
    return await passLate(call, block, heard, services)
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
    throw malformed('a message that is not UTF-8', cause)
  }
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'guarded_response_too_large',
    'the result is too large for its guardrail policy',
  )
}
