import { type AdminRoute, adminRoute, listOf, pageOf, pageQuery } from 'model-gateway/admin'
import type { Directory } from 'model-gateway/identity'
import { strictObject, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Id } from '../_shared/own-id.ts'
import { Instant, nullable, oneOf } from '../_shared/schema.ts'
import type { AlertStore, ListedAlert } from './alert-store.ts'
import { Cadence, ownerMembers, Scope, Usd, wireScope } from './budget-wire.ts'
import { ownerName } from './owner-names.ts'
import { ownerOf } from './scopes.ts'
import { OwnerKind, ownerKindOf } from './spend-query.ts'
import { startOfDay } from './window.ts'

const Status = oneOf(['pending', 'sent', 'failed'])

const AlertItem = Type.Object({
  alert_id: Type.String(),
  budget_id: Type.String(),
  scope: Scope,
  scope_key: Type.String(),
  ...ownerMembers,
  status: Status,
  threshold_percent: Type.Integer({
    description: 'Percentage of the budget that triggers the alert when it is all that remains',
  }),
  cadence: Cadence,
  window_start: Instant,
  window_end: Instant,
  amount_usd: Usd('Budget amount when the alert was raised'),
  hard_limit: Type.Boolean(),
  spend_usd: Usd('Spent in the window when the alert was raised'),
  remaining_usd: Usd(
    'Remaining when the alert was raised; negative if overspent. Hard limits count rejections',
  ),
  created_at: Instant,
  deliveries: Type.Array(
    Type.Object({
      delivery_id: Type.String(),
      channel: Type.Literal('email'),
      user_id: nullable(Type.String()),
      recipient: nullable(Type.String({ description: 'null: no user is eligible' })),
      status: Status,
      attempts: Type.Integer({ description: 'Failed delivery attempts' }),
      last_error: nullable(Type.String()),
      next_attempt_at: nullable(Instant),
      sent_at: nullable(Instant),
    }),
  ),
})

export function alertRoutes(options: {
  readonly store: AlertStore
  readonly directory: () => Promise<Directory>
}): AdminRoute[] {
  const { store, directory } = options
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/budget-alerts',
      audience: 'platform_admin',
      tag: 'spend',
      summary: 'Budget alerts with their email deliveries, newest first.',
      query: strictObject({
        ...pageQuery,
        status: Type.Optional(Status),
        owner_kind: Type.Optional(OwnerKind),
        budget_id: Type.Optional(Id),
      }),
      result: listOf(AlertItem),
      async handle({ query }) {
        const { page, page_size, offset } = pageOf(query)
        const ownerKind = ownerKindOf(query.owner_kind)
        const filter = {
          ...(query.status !== undefined && { status: query.status }),
          ...(ownerKind !== undefined && { ownerKind }),
          ...(query.budget_id !== undefined && { budgetId: query.budget_id }),
        }
        const [{ alerts, total }, known] = await Promise.all([
          store.list(filter, { limit: page_size, offset }),
          directory(),
        ])
        return { items: alerts.map((alert) => wireAlert(alert, known)), page, page_size, total }
      },
    }),
  ]
}

function wireAlert(alert: ListedAlert, directory: Directory) {
  const { settings, window } = alert
  const owner = ownerOf(alert.scope)
  const instant = (text: string | null) => (text === null ? null : new Date(text).toISOString())
  return {
    alert_id: alert.alertId,
    budget_id: alert.budgetId,
    scope: wireScope(alert.scope),
    scope_key: alert.scopeKey,
    owner_kind: owner.kind,
    owner_id: owner.id,
    owner_name: ownerName(owner, directory),
    status: alert.status,
    threshold_percent: alert.thresholdPercent,
    cadence: settings.cadence,
    window_start: startOfDay(window.start).toISOString(),
    window_end: startOfDay(window.end).toISOString(),
    amount_usd: usd(settings.amountPicoUsd),
    hard_limit: settings.hardLimit,
    spend_usd: usd(alert.spent),
    remaining_usd: usd(alert.remaining),
    created_at: alert.createdAt.toISOString(),
    deliveries: alert.deliveries.map((delivery) => ({
      ...delivery,
      channel: 'email' as const,
      next_attempt_at: instant(delivery.next_attempt_at),
      sent_at: instant(delivery.sent_at),
    })),
  }
}
