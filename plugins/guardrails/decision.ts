import type { GuardPhase, PackMatch } from 'model-gateway/guardrail'
import type { CheckEntry, PolicySettings } from './config.ts'

export type Mode = PolicySettings['mode']
export type Disposition = CheckEntry['failure_disposition']
export type Action = 'allow' | 'audit' | 'deny' | 'transformed'

export const DETERMINISTIC_ALLOW = 'deterministic.allow'
export const MANAGED_ALLOW = 'managed.allow'
export const MANAGED_TRANSFORMED = 'managed.transformed'
export const INVALID_TRANSFORMATION = 'managed.invalid_transformation'
export const MALFORMED_ARGUMENTS = 'tool_call.malformed_arguments'
export const UNINSPECTABLE = 'command.uninspectable'

/** The decision of an evaluator about an operation. Contains no judged content. */
export interface Decision {
  /** A UUIDv7. */
  readonly id: string
  /** Milliseconds since the epoch; the same time as in the id. */
  readonly occurredAt: number
  readonly requestId: string
  readonly mcpInvocationId: string | undefined
  readonly phase: GuardPhase
  readonly scope: string
  readonly mode: Mode
  /** The id of the pack, the name of the managed check in the config, or `tool_call`. */
  readonly evaluator: string
  /** The kind of the managed check. */
  readonly managedService: string | undefined
  readonly packId: string | undefined
  readonly match: PackMatch | undefined
  readonly action: Action
  readonly reasonCode: string
  readonly latencyMs: number
  /** Where a managed check could not judge. */
  readonly failureDisposition: Disposition | undefined
  readonly transformation: 'none' | 'applied' | 'rejected'
  /** Hexadecimal SHA-256 of the judged content. */
  readonly contentSha256: string
}

/** The decision as a row's JSON. */
export function encodeDecision(decision: Decision, configVersion: string): string {
  return JSON.stringify({
    id: decision.id,
    occurred_at: new Date(decision.occurredAt).toISOString(),
    request_id: decision.requestId,
    mcp_invocation_id: decision.mcpInvocationId,
    phase: decision.phase,
    scope: decision.scope,
    mode: decision.mode,
    evaluator: decision.evaluator,
    managed_service: decision.managedService,
    pack_id: decision.packId,
    rule_id: decision.match?.ruleId,
    action: decision.action,
    reason_code: decision.reasonCode,
    latency_ms: Math.round(decision.latencyMs * 1000) / 1000,
    failure_disposition: decision.failureDisposition,
    transformation: decision.transformation,
    content_sha256: decision.contentSha256,
    config_version: configVersion,
  })
}

/** The message for a denied caller: the rule and a safer action, never the denied content. */
export function denialMessage(decision: Decision): string {
  return `denied by ${reasonOf(decision)} Decision ${decision.id}.`
}

/** What happened to a denied model call, by phase. */
const DENIED: Partial<Record<GuardPhase, string>> = {
  prompt: 'did not send the request to the model',
  model_response: 'withheld the reply of the model',
  generated_tool_call: 'withheld a tool call of the model; the tool was not called',
}

/**
 * The text of a refusal, which replaces the error of a model call: what was denied, why, and a
 * safer action. Undefined for other phases.
 */
export function refusalText(decision: Decision): string | undefined {
  const denied = DENIED[decision.phase]
  if (denied === undefined) return undefined
  const safer = decision.match === undefined ? ' Remove what it objects to.' : ''
  return `A guardrail of the gateway ${denied}: ${denialMessage(decision)}${safer} Repeating the same request will be denied again.`
}

function reasonOf({ match, evaluator, reasonCode }: Decision): string {
  if (match !== undefined) {
    const { packId, ruleId, description, saferAction } = match
    return `${packId}, rule ${ruleId}: ${description} ${saferAction}`
  }
  if (reasonCode !== MALFORMED_ARGUMENTS) return `${evaluator} (${reasonCode}).`
  return `${evaluator} (${reasonCode}): arguments must be a JSON object without duplicate keys.`
}
