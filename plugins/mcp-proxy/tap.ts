import type { GuardDenial } from 'model-gateway/guardrail'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { createSseBlocks, parseExact } from 'model-gateway/wire'
import type { McpInvocationStatus } from './contract.ts'
import type { McpCall, McpServices } from './exchange.ts'
import { closeReopened } from './invocation.ts'
import { isId, sameId, withExactIds } from './rpc-id.ts'
import { responsesIn, toolOverhead } from './rpc-response.ts'
import type { Ending } from './stream.ts'

/** Maximum characters of a reply or an event that the tap parses. */
const MOST_CHARS = 16 * 1024 * 1024

/** Reads the server's messages for the audit, without changing them. */
export interface Tap {
  add(bytes: Uint8Array): void
  over(ending: Ending): void
}

/** Undefined if the reply cannot contain anything for the audit. */
export function createTap(call: McpCall, events: boolean, services: McpServices) {
  if (!hears(call)) return undefined
  return events ? eventTap(call, services) : jsonTap(call, services)
}

/** Takes notice of a body that has come as one. */
export function hearWhole(
  call: McpCall,
  bytes: Uint8Array,
  events: boolean,
  services: McpServices,
): void {
  if (!hears(call)) return
  if (events) {
    const tap = eventTap(call, services)
    tap.add(bytes)
    tap.over('ended')
    return
  }
  call.invocation?.sent(bytes.byteLength)
  hear(parse(utf8.decode(bytes)), call, services)
  closeUnanswered(call, 'ended')
}

/** Reads the body of an error, because a response to a tool call says more than its status. */
export function hearError({ invocation, request }: McpCall, text: string): void {
  const value = invocation && parse(text)
  if (value === undefined) return
  const answer = responsesIn(value).find(
    (response) => !('result' in response) && sameId(response.id, request?.id),
  )
  if (answer !== undefined) invocation?.answered(answer)
}

const utf8 = new TextDecoder()

function hears({ incoming, invocation, request, sessionId }: McpCall): boolean {
  if (incoming.method === 'GET') return sessionId !== undefined
  return invocation !== undefined || request?.method === 'tools/list'
}

function eventTap(call: McpCall, services: McpServices): Tap {
  const { invocation } = call
  const decoder = new TextDecoder()
  const blocks = createSseBlocks()
  let deaf = false
  let resumable = false
  return {
    add(bytes) {
      invocation?.sent(bytes.byteLength)
      if (deaf) return
      for (const { data, hasId } of blocks.push(decoder.decode(bytes, { stream: true }))) {
        resumable ||= hasId
        if (data !== undefined) hear(parse(data), call, services, Buffer.byteLength(data))
      }
      deaf = blocks.pending > MOST_CHARS
    },
    over: (ending) => closeUnanswered(call, ending, resumable),
  }
}

function jsonTap(call: McpCall, services: McpServices): Tap {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let length = 0
  return {
    add(bytes) {
      call.invocation?.sent(bytes.byteLength)
      if (length > MOST_CHARS) return
      const text = decoder.decode(bytes, { stream: true })
      pieces.push(text)
      length += text.length
    },
    over(ending) {
      if (length <= MOST_CHARS) hear(parse(pieces.join('')), call, services)
      closeUnanswered(call, ending)
    },
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return withExactIds(text, parseExact(text))
  } catch {
    return undefined
  }
}

/** Reads a message of the server; `bytes`: its size, for a late result. */
export function hear(
  value: JsonValue | undefined,
  call: McpCall,
  services: McpServices,
  bytes = 0,
): void {
  if (value === undefined) return
  for (const response of responsesIn(value)) hearResponse(response, call, services, bytes)
}

function hearResponse(
  response: JsonObject,
  call: McpCall,
  services: McpServices,
  bytes: number,
): void {
  const { request, invocation, audit, server, incoming } = call
  if (request === undefined || !sameId(response.id, request.id)) {
    hearLate(response, call, { denial: undefined, bytes }, services)
    return
  }
  invocation?.answered(response)
  const overhead = request.method === 'tools/list' ? toolOverhead(response) : undefined
  if (overhead === undefined) return
  audit.recordTokenOverhead({
    requestId: incoming.requestId,
    serverId: server.mcpServerId,
    toolCount: overhead.tools,
    tokens: overhead.tokens,
  })
}

/** A response to a call that was made on another connection of this session. */
export function hearLate(
  response: JsonObject,
  call: McpCall,
  outcome: { readonly denial: GuardDenial | undefined; readonly bytes: number },
  { fault }: McpServices,
): void {
  const { audit, server, sessionId, incoming, resultGuard, secrets } = call
  const { id } = response
  if (sessionId === undefined || !isId(id)) return
  audit
    .reopen({ serverId: server.mcpServerId, sessionId }, JSON.stringify(id))
    .then((handle) => {
      if (handle === undefined) return
      closeReopened(handle, response, { ...outcome, secrets, guarded: resultGuard !== undefined })
    })
    .catch((error) => fault('recording a late tool result failed', error, incoming.requestId))
}

/**
 * Closes the row of a call whose reply ended without a response. `resumable`: the caller can
 * request the events after the last one.
 */
export function closeUnanswered(call: McpCall, ending: Ending, resumable = false): void {
  const { invocation, sessionId } = call
  // The response can arrive on another stream of the session.
  if (sessionId !== undefined && (resumable || ending === 'ended')) invocation?.leave()
  else invocation?.close(...unanswered[ending])
}

const unanswered: Record<Ending, readonly [McpInvocationStatus, string?]> = {
  left: ['cancelled'],
  idle: ['timeout', 'upstream_timeout'],
  broken: ['upstream_error', 'upstream_transport'],
  ended: ['incomplete'],
}
