import type { Principal } from '../plugin/index.ts'
import type { GatewayModel } from './catalog.ts'

/**
 * Why a caller may not use a model by this name; undefined if allowed. The grants of the key, the
 * allowlists of the owner and its team, and the model's own allowlist all apply to the requested
 * name, not to the target of an alias.
 */
export function accessFault(principal: Principal, model: GatewayModel): string | undefined {
  const { grants, allowlists, owner } = principal
  if (grants !== 'all' && !grants.has(model.id)) return 'the key has no grant for the model'
  for (const allowed of allowlists) {
    if (!allowed.has(model.id)) return 'the allowlist of the owner or team lacks the model'
  }
  const { allowlist } = model
  if (allowlist === undefined) return undefined
  if (owner.kind === 'service_account') return 'the model is for users and teams only'
  if (allowlist.users.has(owner.email)) return undefined
  if (owner.team !== undefined && allowlist.teams.has(owner.team.key)) return undefined
  return 'the allowlist of the model has neither the user nor the team'
}

export function mayUse(principal: Principal, model: GatewayModel): boolean {
  return accessFault(principal, model) === undefined
}
