import type { AdmissionRequest } from 'model-gateway/plugin'

type Spender = Pick<AdmissionRequest, 'principal' | 'resolvedModel' | 'upstreamModel'>

/** Keys of every scope whose spend a call adds to, in the spelling of budget scope keys. */
export function scopeKeys({ principal, resolvedModel, upstreamModel }: Spender): string[] {
  const { owner } = principal
  if (owner.kind === 'service_account') {
    return [`budget:v1:service_account:${owner.serviceAccountId}`]
  }
  const user = `budget:v1:user:${owner.userId}`
  return [user, `${user}:model:${resolvedModel}`, `${user}:upstream_model:${upstreamModel.trim()}`]
}
