import type { Directory } from 'model-gateway/identity'
import { usd } from '../_shared/money.ts'
import type { Alert } from './alert-store.ts'
import type { BudgetScope } from './scopes.ts'
import { startText } from './window.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for every attempt, so that duplicates can be recognised. */
  readonly messageId: string
}

/** The email for a recipient of an alert. */
export function alertMail(
  alert: Alert,
  directory: Directory,
  { deliveryId, recipient }: { readonly deliveryId: string; readonly recipient: string },
): Mail {
  const { scope, settings, window, thresholdPercent, spent, remaining, scopeKey } = alert
  const owner = ownerName(scope, directory)
  const left = usd(remaining > 0n ? remaining : 0n)
  const rejected = settings.amountPicoUsd - spent - remaining
  const consequence = settings.hardLimit
    ? 'hard limit: once it is used up, calls are refused until the window ends'
    : 'soft limit: calls are still served after it is used up'
  const lines = [
    `At most ${thresholdPercent} % of a budget is left.`,
    '',
    `Owner:      ${owner}`,
    `Scope:      ${scopeName(scope)} (${scopeKey})`,
    `Window:     ${settings.cadence}, ${startText(window.start)} to ${startText(window.end)}`,
    `Budget:     ${usd(settings.amountPicoUsd)} USD (${consequence})`,
    `Spend:      ${usd(spent)} USD`,
    ...(rejected > 0n
      ? [
          `Rejected:   ${usd(rejected)} USD (calls that were served, and not charged because of the hard limit)`,
        ]
      : []),
    `Remaining:  ${left} USD`,
    '',
    `As of ${alert.createdAt.toISOString()}.`,
  ]
  return {
    to: recipient,
    subject: oneLine(
      `Budget alert: ${left} USD left of the ${settings.cadence} budget of ${owner}`,
    ),
    text: lines.map(oneLine).join('\n'),
    messageId: `<${deliveryId}@model-gateway>`,
  }
}

function ownerName(scope: BudgetScope, { users, serviceAccounts }: Directory): string {
  if (scope.kind === 'service_account') {
    const account = serviceAccounts.find(({ id }) => id === scope.serviceAccountId)
    return `service account ${account === undefined ? scope.serviceAccountId : `${account.name} (${account.key})`}`
  }
  const user = users.find(({ id }) => id === scope.userId)
  return user === undefined ? `user ${scope.userId}` : `${user.name} (${user.email})`
}

function scopeName(scope: BudgetScope): string {
  if (scope.kind !== 'user_model') return 'all models'
  return 'modelId' in scope ? `model ${scope.modelId}` : `upstream model ${scope.upstreamModel}`
}

/** Prevents a name from adding lines to the email. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
