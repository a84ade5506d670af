import { guardPhases, type PackMatch, Type } from 'model-gateway/plugin'

export const tag = 'guardrails'

export const Phase = Type.Union(
  guardPhases.map((phase) => Type.Literal(phase)),
  { errorMessage: `must be one of ${guardPhases.join(', ')}` },
)
export const Mode = Type.Union([Type.Literal('audit'), Type.Literal('deny')])
export const Action = Type.Union(
  [Type.Literal('allow'), Type.Literal('audit'), Type.Literal('deny'), Type.Literal('transformed')],
  { errorMessage: 'must be allow, audit, deny or transformed' },
)
export const Disposition = Type.Union([Type.Literal('fail_open'), Type.Literal('fail_closed')])

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
