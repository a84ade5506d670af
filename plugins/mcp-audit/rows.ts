import type {
  McpInvocation,
  McpInvocationResult,
  McpTokenOverhead,
  McpVerdict,
} from 'model-gateway/mcp'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { BatchRow } from '../_shared/batch-row.ts'
import { encodeBounded } from '../_shared/bounded-json.ts'
import { limitedText } from '../_shared/safe-text.ts'
import type { PayloadPolicy } from './policy.ts'

/** Maximum characters of a name or id from a caller in a row. */
const NAME_LIMIT = 256
/** Maximum number of stored argument names, or content kinds. */
const MOST_NAMES = 32

/** A queued write: JSON with a `kind`, and optionally one side of a payload. */
export interface WrittenRow extends BatchRow {
  /** The id of the call. */
  readonly group: string
  /** Called when the database or the spool has it. */
  readonly settled?: (() => void) | undefined
  /** Called when nothing has it. */
  readonly dropped?: () => void
}

/** The id of a call, as rows have it. */
export interface RowId {
  readonly type: 'string' | 'number'
  /** As the caller wrote it. */
  readonly text: string
  /** The key for comparison: a number in canonical form, if JavaScript represents it exactly. */
  readonly key: string
}

/** `json`: the id as written; 1 and "1" are different ids. */
export function readRowId(json: string): RowId {
  if (!json.startsWith('"')) return { type: 'number', text: json, key: numberKey(json) }
  const id = JSON.parse(json) as string
  return { type: 'string', text: id, key: id }
}

/** 1, 1.0 and 1e0 are the same id; two numbers that are rounded to the same one are not. */
export function numberKey(text: string): string {
  const number = Number(text)
  return Number.isSafeInteger(number) ? String(number) : text
}

/** An id as a column has room for it. */
export function idColumn(text: string): string {
  return limitedText(text, NAME_LIMIT) ?? ''
}

/** `hash`: of the session's id. */
export function openRow(
  invocation: McpInvocation,
  occurredAt: Date,
  id: RowId | undefined,
  hash: string | undefined,
): string {
  const { principal } = invocation
  const { owner } = principal
  return JSON.stringify({
    kind: 'open',
    id: invocation.invocationId,
    occurred_at: occurredAt.toISOString(),
    request_id: invocation.requestId,
    jsonrpc_id: id && idColumn(id.text),
    jsonrpc_id_type: id?.type,
    session_hash: hash,
    protocol_version: limitedText(invocation.protocolVersion, NAME_LIMIT),
    owner_kind: owner.kind,
    user_id: owner.kind === 'user' ? owner.userId : undefined,
    service_account_id: owner.kind === 'service_account' ? owner.serviceAccountId : undefined,
    team_id: owner.team?.id,
    api_key_id: principal.apiKeyId,
    server_id: invocation.serverId,
    server_key: invocation.serverKey,
    tool_id: invocation.toolId,
    tool_name: limitedText(invocation.toolName, NAME_LIMIT),
    argument_metadata: argumentMetadata(invocation.arguments),
  })
}

/** Without a verdict the row keeps the one that it has. */
export function closeRow(
  id: string,
  result: McpInvocationResult,
  verdict: McpVerdict | undefined,
  finishedAt: Date,
): string {
  return `{"kind":"close","id":${JSON.stringify(id)},${closeMembers(result, verdict, finishedAt)}`
}

/** One row for a call that was opened as `json` and has ended. */
export function closedRow(
  json: string,
  result: McpInvocationResult,
  verdict: McpVerdict | undefined,
  finishedAt: Date,
): string {
  return `${json.slice(0, -1)},${closeMembers(result, verdict, finishedAt)}`
}

/** `"name":value,…}` */
function closeMembers(
  result: McpInvocationResult,
  verdict: McpVerdict | undefined,
  finishedAt: Date,
): string {
  return JSON.stringify({
    status: result.status,
    policy_result: verdict?.policyResult,
    latency_ms: Math.round(result.latencyMs),
    error_code: limitedText(result.errorCode, NAME_LIMIT),
    guardrail_decision_id: verdict?.guardrailDecisionId,
    response_bytes: result.responseBytes,
    result_metadata: resultMetadata(result.result),
    finished_at: finishedAt.toISOString(),
  }).slice(1)
}

export function leaveRow(id: string, verdict: McpVerdict | undefined, heldUntil: Date): string {
  return JSON.stringify({
    kind: 'leave',
    id,
    policy_result: verdict?.policyResult,
    guardrail_decision_id: verdict?.guardrailDecisionId,
    held_until: heldUntil.toISOString(),
  })
}

export function overheadRow(id: string, overhead: McpTokenOverhead, occurredAt: Date): string {
  return JSON.stringify({
    kind: 'overhead',
    id,
    occurred_at: occurredAt.toISOString(),
    request_id: overhead.requestId,
    server_id: overhead.serverId,
    tool_count: overhead.toolCount,
    token_count: overhead.tokens,
  })
}

/**
 * One side of a payload as members of its row, sanitised and limited; undefined if it is not
 * stored.
 */
export function payloadOf(
  side: 'arguments' | 'result',
  value: JsonValue | undefined,
  policy: PayloadPolicy,
): string | undefined {
  if (value === undefined || !policy.captures) return undefined
  const maxBytes = side === 'arguments' ? policy.requestMaxBytes : policy.responseMaxBytes
  const bounded = encodeBounded({ body: value }, policy.paths, maxBytes)
  const { json, truncated } = 'json' in bounded ? bounded : inOneGo(bounded)
  return `"${side}":${json},"${side}_truncated":${truncated}`
}

function inOneGo<T>(steps: Generator<undefined, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

function argumentMetadata(args: JsonValue | undefined): JsonObject {
  if (!isJsonObject(args)) return args === undefined ? {} : { shape: shapeOf(args) }
  const names = Object.keys(args)
  return {
    names: names.slice(0, MOST_NAMES).map((name) => limitedText(name, NAME_LIMIT) ?? ''),
    count: names.length,
  }
}

function resultMetadata(result: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(result)) return undefined
  if (typeof result.code === 'number') return { error: true }
  return {
    is_error: result.isError === true,
    content: contentKinds(result.content),
    structured: 'structuredContent' in result,
  }
}

/** How many blocks there are of each kind. */
function contentKinds(content: JsonValue | undefined): JsonObject {
  const kinds = Object.create(null) as Record<string, number>
  if (!Array.isArray(content)) return kinds
  let count = 0
  for (const block of content) {
    const type = isJsonObject(block) && typeof block.type === 'string' ? block.type : 'unknown'
    const kind = /^[a-z_]{1,32}$/.test(type) ? type : 'unknown'
    const known = kinds[kind]
    if (known !== undefined) kinds[kind] = known + 1
    else if (count++ < MOST_NAMES) kinds[kind] = 1
  }
  return kinds
}

function shapeOf(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
