import type { Database } from 'model-gateway/plugin'
import { ALERT_PERCENT, type BudgetSettings } from './budget.ts'
import type { Recipients } from './recipients.ts'
import type { BudgetScope } from './scopes.ts'
import { type AlertArray, alertArray, budgetWindow, readAlert } from './tables.ts'
import { startOfDay, type UtcDay, type Window } from './window.ts'

export type DeliveryStatus = 'pending' | 'sent' | 'failed'

/** A raised alert: its budget, and the amounts at that moment in pico-USD. */
export interface Alert {
  readonly alertId: string
  readonly budgetId: string
  readonly scopeKey: string
  readonly scope: BudgetScope
  readonly settings: Pick<BudgetSettings, 'cadence' | 'amountPicoUsd' | 'hardLimit'>
  readonly window: Window
  readonly thresholdPercent: number
  readonly spent: bigint
  readonly remaining: bigint
  readonly createdAt: Date
}

/** One email of an alert that is due. */
export interface Claimed {
  readonly deliveryId: string
  readonly recipient: string
  /** Failed attempts before this one. */
  readonly attempts: number
  readonly alert: Alert
}

interface ListedDelivery {
  readonly delivery_id: string
  readonly user_id: string | null
  readonly recipient: string | null
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly last_error: string | null
  readonly next_attempt_at: string | null
  readonly sent_at: string | null
}

export interface ListedAlert extends Alert {
  /** The worst status of its deliveries: failed, then pending, then sent. */
  readonly status: DeliveryStatus
  readonly deliveries: readonly ListedDelivery[]
}

export interface AlertStore {
  /**
   * Raises due alerts among these scopes on `today`, at most once per window over all replicas,
   * with a delivery for each recipient, in one transaction. Resolves to the scopes that have an
   * alert now.
   */
  raise(
    scopeKeys: readonly string[],
    today: UtcDay,
    recipientsOf: (scope: BudgetScope) => Recipients,
  ): Promise<readonly string[]>
  /** Claims the next due delivery for `leaseMs`, so that no other replica sends it. */
  claim(leaseMs: number): Promise<Claimed | undefined>
  sent(deliveryId: string): Promise<void>
  /** `retryMs`: time until the next attempt; undefined: no further attempt. */
  failed(deliveryId: string, error: string, retryMs: number | undefined): Promise<void>
  /** Newest first. */
  list(
    filter: {
      readonly status?: DeliveryStatus
      readonly ownerKind?: 'user' | 'service_account'
      readonly budgetId?: string
    },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly alerts: readonly ListedAlert[]; readonly total: number }>
}

const raiseSql = (schema: string) => `
  with due as materialized (
    select *, coalesce(user_id, service_account_id) as owner_id
    from "${schema}".budgets b ${budgetWindow(schema, '$2::timestamp')}
      cross join lateral (
        select amount_pico_usd - spent - case when hard_limit then rejected else 0 end as remaining
      ) as rest
    where active and scope_key = any($1::text[])
      and 100 * remaining <= ${ALERT_PERCENT} * amount_pico_usd
  ), raised as (
  insert into "${schema}".budget_alerts as a (alert_id, budget_id, scope_key, scope_kind, owner_kind,
    owner_id, model_id, upstream_model, cadence, window_start, window_end, threshold_percent,
    amount_pico_usd, spent_pico_usd, remaining_pico_usd, hard_limit)
  select gen_random_uuid(), budget_id, scope_key, scope_kind,
    case scope_kind when 'service_account' then 'service_account' else 'user' end,
    owner_id, model_id, upstream_model, cadence, window_start, window_end, ${ALERT_PERCENT},
    amount_pico_usd, spent, remaining, hard_limit
  from due order by scope_key
  on conflict do nothing
  returning budget_id, ${alertArray} as alert
  )
  select scope_key, alert from due left join raised using (budget_id)`

const claimSql = (schema: string) => `
  with next as (
    update "${schema}".budget_alert_deliveries d
    set next_attempt_at = now() + $1::integer * interval '1 millisecond'
    where delivery_id = (
      select delivery_id from "${schema}".budget_alert_deliveries
      where status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit 1 for update skip locked
    )
    returning delivery_id, alert_id, recipient, attempts
  )
  select delivery_id, recipient, attempts, ${alertArray} as alert
  from next join "${schema}".budget_alerts a using (alert_id)`

const listSql = (schema: string, columns: string, rest: string) => `
  select ${columns}
  from "${schema}".budget_alerts a cross join lateral (
    select case when bool_or(status = 'failed') then 'failed'
      when bool_or(status = 'pending') then 'pending' else 'sent' end as status,
      json_agg(json_build_object('delivery_id', delivery_id, 'user_id', user_id,
        'recipient', recipient, 'status', status, 'attempts', attempts, 'last_error', last_error,
        'next_attempt_at', case status when 'pending' then next_attempt_at end, 'sent_at', sent_at)
        order by recipient) as deliveries
    from "${schema}".budget_alert_deliveries d where d.alert_id = a.alert_id
  ) as all_of_it
  where ($1::text is null or status = $1) and ($2::text is null or owner_kind = $2)
    and ($3::uuid is null or budget_id = $3) ${rest}`

export function createAlertStore({ sql, schema }: Database): AlertStore {
  return {
    raise: (scopeKeys, today, recipientsOf) =>
      sql.begin(async (tx) => {
        const due = await tx.unsafe<{ scope_key: string; alert: AlertArray | null }[]>(
          raiseSql(schema),
          [[...scopeKeys], startOfDay(today).toISOString()],
        )
        for (const { alert } of due) {
          if (alert === null) continue
          const { alertId, scope } = readAlert(alert)
          for (const delivery of deliveriesOf(recipientsOf(scope))) {
            await tx`
              insert into ${tx(schema)}.budget_alert_deliveries
                ${tx({ ...delivery, delivery_id: Bun.randomUUIDv7(), alert_id: alertId })}`
          }
        }
        return due.map((row) => row.scope_key)
      }),

    async claim(leaseMs) {
      const [row] = await sql.unsafe<
        { delivery_id: string; recipient: string; attempts: number; alert: AlertArray }[]
      >(claimSql(schema), [leaseMs])
      if (row === undefined) return undefined
      const { delivery_id: deliveryId, recipient, attempts, alert } = row
      return { deliveryId, recipient, attempts, alert: readAlert(alert) }
    },
    async sent(deliveryId) {
      await sql`
        update ${sql(schema)}.budget_alert_deliveries
        set status = 'sent', sent_at = now(), last_error = null
        where delivery_id = ${deliveryId}`
    },
    async failed(deliveryId, error, retryMs) {
      await sql`
        update ${sql(schema)}.budget_alert_deliveries
        set status = ${retryMs === undefined ? 'failed' : 'pending'}, attempts = attempts + 1,
          last_error = ${error},
          next_attempt_at = now() + ${retryMs ?? 0}::integer * interval '1 millisecond'
        where delivery_id = ${deliveryId} and status = 'pending'`
    },

    async list({ status = null, ownerKind = null, budgetId = null }, { limit, offset }) {
      const [count] = await sql.unsafe<{ total: number }[]>(
        listSql(schema, 'count(*)::int as total', ''),
        [status, ownerKind, budgetId],
      )
      const rows = await sql.unsafe<
        { alert: AlertArray; status: DeliveryStatus; deliveries: ListedDelivery[] }[]
      >(
        listSql(
          schema,
          `${alertArray} as alert, status, deliveries`,
          'order by created_at desc, alert_id limit $4 offset $5',
        ),
        [status, ownerKind, budgetId, limit, offset],
      )
      const alerts = rows.map((row) => ({ ...readAlert(row.alert), ...row, alert: undefined }))
      return { alerts, total: count?.total ?? 0 }
    },
  }
}

/** One delivery for each recipient, or one with the reason why no recipient exists. */
function deliveriesOf(recipients: Recipients) {
  if (typeof recipients === 'string') return [{ status: 'failed', last_error: recipients }]
  return recipients.map(({ userId, email }) => ({
    status: 'pending',
    user_id: userId,
    recipient: email,
  }))
}
