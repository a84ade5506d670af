import type { Spender } from 'model-gateway/accounting'
import { safeText } from '../_shared/safe-text.ts'
import type { OwnerId } from './owner-names.ts'

/** The scope of a budget. */
export type BudgetScope =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'service_account'; readonly serviceAccountId: string }
  | { readonly kind: 'user_model'; readonly userId: string; readonly modelId: string }
  | { readonly kind: 'user_model'; readonly userId: string; readonly upstreamModel: string }

/** The error for a budget of a wildcard such as `openai/*`. */
export const WILDCARD_BUDGET =
  'matches many models, and a budget applies to one model: write the full model name'

/** The canonical name of a scope. */
export function scopeKey(scope: BudgetScope): string {
  if (scope.kind === 'service_account') return `budget:v1:service_account:${scope.serviceAccountId}`
  const user = `budget:v1:user:${scope.userId}`
  if (scope.kind === 'user') return user
  return safeText(
    'modelId' in scope
      ? `${user}:model:${scope.modelId}`
      : `${user}:upstream_model:${scope.upstreamModel.trim()}`,
  )
}

/** The owner whose spend counts in a scope. */
export function ownerOf(scope: BudgetScope): OwnerId {
  return scope.kind === 'service_account'
    ? { kind: scope.kind, id: scope.serviceAccountId }
    : { kind: 'user', id: scope.userId }
}

interface Known {
  readonly resolvedModel: string
  readonly upstreamModel: string
  readonly keys: readonly string[]
}

/**
 * Cache of the keys of a caller's last call, because most callers use one model and each call needs
 * the keys twice.
 */
const lastKeys = new WeakMap<Spender['principal'], Known>()

/** Keys of all scopes in which the spend of a call counts. */
export function scopeKeys(call: Spender): readonly string[] {
  const { principal, resolvedModel, upstreamModel } = call
  const last = lastKeys.get(principal)
  if (last?.resolvedModel === resolvedModel && last.upstreamModel === upstreamModel) {
    return last.keys
  }
  const keys = scopesOf(call).map(scopeKey)
  lastKeys.set(principal, { resolvedModel, upstreamModel, keys })
  return keys
}

function scopesOf({ principal, resolvedModel, upstreamModel }: Spender): BudgetScope[] {
  const { owner } = principal
  if (owner.kind === 'service_account') {
    return [{ kind: 'service_account', serviceAccountId: owner.serviceAccountId }]
  }
  const { userId } = owner
  return [
    { kind: 'user', userId },
    { kind: 'user_model', userId, modelId: resolvedModel },
    { kind: 'user_model', userId, upstreamModel },
  ]
}
