import type { Principal } from '../plugin/index.ts'
import type { GatewayModel } from './catalog.ts'

/**
 * Whether a caller may ask for a model by this name: the key's grant, the principal-centric
 * allowlists and the model's own allowlist, each on the name asked for and not on what an alias
 * stands for.
 */
export function mayUse(principal: Principal, model: GatewayModel): boolean {
  if (principal.grants !== 'all' && !principal.grants.has(model.id)) return false
  for (const allowed of principal.allowlists) if (!allowed.has(model.id)) return false
  if (model.allowlist === undefined) return true
  const { owner } = principal
  if (owner.kind === 'service_account') return false
  return (
    model.allowlist.users.has(owner.email) ||
    (owner.team !== undefined && model.allowlist.teams.has(owner.team.key))
  )
}
