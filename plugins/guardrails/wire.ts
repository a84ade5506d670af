import { guardPhases, type PackMatch } from 'model-gateway/guardrail'
import { Type } from 'model-gateway/plugin'
import { nullable, oneOf, Text } from '../_shared/schema.ts'

export const tag = 'guardrails'

export const Phase = oneOf(guardPhases)
export const Mode = oneOf(['audit', 'deny'])
export const OnDeny = oneOf(['error', 'refusal'])
export const Action = oneOf(['allow', 'audit', 'deny', 'transformed'])
export const Disposition = oneOf(['fail_open', 'fail_closed'])

export const DecisionItem = Type.Object({
  decision_id: Text,
  occurred_at: Type.String({ format: 'date-time' }),
  request_id: Text,
  mcp_invocation_id: nullable(Text),
  phase: Phase,
  scope: Text,
  mode: Mode,
  evaluator: Type.String({
    description: 'The id of the pack, the name of the managed check, or tool_call.',
  }),
  managed_service: nullable(Text, 'The kind of the managed check.'),
  pack_id: nullable(Text),
  rule_id: nullable(Text),
  action: Action,
  reason_code: Text,
  latency_ms: Type.Number(),
  failure_disposition: nullable(Disposition, 'Set if a managed check failed.'),
  transformation: oneOf(['none', 'applied', 'rejected']),
  content_sha256: Type.String({ description: 'Hash of the judged content, which is not stored.' }),
  config_version: Text,
})

export const MatchedRule = Type.Object({
  pack_id: Type.String(),
  rule_id: Type.String(),
  matched_field: Type.String({
    description: 'command.executable, command.arguments, command.redirect, tool, or a JSON path',
  }),
  reason_code: Type.String(),
  description: Type.String(),
  safer_action: Type.String(),
})

export function matchedRule(match: PackMatch) {
  return {
    pack_id: match.packId,
    rule_id: match.ruleId,
    matched_field: match.matchedField,
    reason_code: match.reasonCode,
    description: match.description,
    safer_action: match.saferAction,
  }
}
