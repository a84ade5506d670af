import {
  GuardDenial,
  type GuardedContent,
  type GuardPhase,
  type GuardPolicy,
} from 'model-gateway/guardrail'
import type { Principal } from 'model-gateway/identity'
import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { parseExact, plainJson } from 'model-gateway/wire'
import type { McpServer } from './contract.ts'
import type { McpCall } from './exchange.ts'
import type { Invocation } from './invocation.ts'
import { type RpcMessage, type ToolCall, withArguments } from './json-rpc.ts'
import { responseTexts } from './result.ts'

interface Judged {
  readonly server: McpServer
  readonly principal: Principal
  readonly requestId: string
  readonly invocation: Invocation | undefined
}

/** A message as it may go to its server. */
export interface Passed {
  readonly text: string
  /** The arguments, if a guard has changed them. */
  readonly changed?: JsonObject
}

/** Throws GuardDenial before anything is sent and before a secret is read. */
export async function guardCall(
  policy: GuardPolicy,
  message: RpcMessage,
  call: ToolCall,
  facts: Judged,
): Promise<Passed> {
  if (!policy.covers('mcp_call')) return message
  const { place, tool } = call
  const text = place === undefined ? '{}' : plainJson(message.text.slice(place.from, place.to))
  const content = await inspect(policy, facts, 'mcp_call', {
    kind: 'tool_calls',
    calls: [{ tool, arguments: text }],
  })
  const other = content?.kind === 'tool_calls' ? content.calls[0]?.arguments : undefined
  if (other === undefined || other === text) {
    facts.invocation?.wentOn(call.arguments)
    return message
  }
  const changed = objectIn(other)
  if (place !== undefined && changed !== undefined) {
    facts.invocation?.wentOn(changed)
    return { text: withArguments(message, call, other), changed }
  }
  throw new GatewayError('internal_error', 'a guardrail replaced the arguments with invalid ones')
}

/** The transformed content; undefined if unchanged. Throws GuardDenial. */
async function inspect(
  policy: GuardPolicy,
  { server, principal, requestId, invocation }: Judged,
  phase: GuardPhase,
  content: GuardedContent,
): Promise<GuardedContent | undefined> {
  const verdict = await policy.inspect({
    phase,
    content,
    requestId,
    caller: principal.ownershipScopeKey,
    ...(invocation === undefined ? {} : { mcpInvocationId: invocation.id }),
    server: { key: server.serverKey, aliases: server.aliases },
  })
  if (verdict.action === 'deny') throw new GuardDenial(verdict)
  invocation?.allowed(verdict.decisionId)
  return verdict.content
}

function judgedOf({ server, principal, incoming, invocation }: McpCall): Judged {
  return { server, principal, requestId: incoming.requestId, invocation }
}

/** Replacements for these responses; undefined if they may pass unchanged. Throws GuardDenial. */
export async function judge(
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
  throw new GatewayError('internal_error', 'a guardrail replaced the result with an invalid one')
}

/** The text of an error that the caller may see. Throws GuardDenial. */
export async function guardErrorText(call: McpCall, text: string): Promise<string> {
  if (call.resultGuard === undefined || text === '') return text
  // It is JSON as a rule.
  const plain = plainJson(text)
  const content = { kind: 'text', segments: [plain] } as const
  const other = await inspect(call.resultGuard, judgedOf(call), 'mcp_result', content)
  const passed = other?.kind === 'text' ? (other.segments[0] ?? '') : plain
  return passed === plain ? text : passed
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseExact(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
