import type { Directory } from 'model-gateway/identity'
import type { BudgetScope } from './scopes.ts'

/** The recipients of an alert, or the reason why none exists. */
export type Recipients = readonly { readonly userId: string; readonly email: string }[] | string

/**
 * For a user's budget: the user. For a service account: the owners and admins of its team. Only
 * active users receive alerts.
 */
export function recipientsOf(scope: BudgetScope, directory: Directory): Recipients {
  const { users, serviceAccounts } = directory
  if (scope.kind !== 'service_account') {
    const user = users.find(({ id }) => id === scope.userId)
    if (user === undefined) return 'no eligible recipient: the user does not exist'
    if (user.status !== 'active') return `no eligible recipient: the user is ${user.status}`
    return [{ userId: user.id, email: user.email }]
  }
  const account = serviceAccounts.find(({ id }) => id === scope.serviceAccountId)
  const eligible = users.filter(
    ({ status, team }) =>
      status === 'active' && team?.id === account?.teamId && team?.role !== 'member',
  )
  if (account === undefined || eligible.length === 0) {
    return 'no eligible recipient: the team of the service account has no active owner or admin'
  }
  return eligible.map(({ id, email }) => ({ userId: id, email }))
}
