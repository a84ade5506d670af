import { guardPhases, type PackMatch, Type } from 'model-gateway/plugin'
import { oneOf } from '../_shared/schema.ts'

export const tag = 'guardrails'

export const Phase = oneOf(guardPhases)
export const Mode = oneOf(['audit', 'deny'])
export const Action = oneOf(['allow', 'audit', 'deny', 'transformed'])
export const Disposition = oneOf(['fail_open', 'fail_closed'])

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
