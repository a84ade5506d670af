import type { Database } from 'model-gateway/plugin'
import type { OwnerRow } from './lanes.ts'
import { demoOwners, teams } from './world.ts'

/** Rows of the identity and accounting plugins, by the plain SQL of their schemas. */
export interface OwnerStore {
  /** Creates missing users, service accounts and keys, and returns the owners. */
  owners(): Promise<readonly OwnerRow[]>
  /** Creates budgets for service accounts and some users, sized by their spend so far. */
  budgets(owners: readonly OwnerRow[], now: Date): Promise<void>
}

export function createOwnerStore({ sql }: Pick<Database, 'sql'>): OwnerStore {
  return {
    async owners() {
      return await sql.begin(async (tx) => {
        for (const { key, name } of teams) {
          await tx`
            insert into identity.teams (id, key, name) values (${Bun.randomUUIDv7()}, ${key}, ${name})
            on conflict (key) do nothing`
        }
        const rows: OwnerRow[] = []
        for (const owner of demoOwners()) {
          const [team] = await tx`select id from identity.teams where key = ${owner.teamKey}`
          const user = owner.kind === 'user'
          if (user) {
            await tx`
              insert into identity.users (id, name, email)
              values (${Bun.randomUUIDv7()}, ${owner.name}, ${owner.key})
              on conflict (email) do nothing`
          } else {
            await tx`
              insert into identity.service_accounts (id, key, name, team_id)
              values (${Bun.randomUUIDv7()}, ${owner.key}, ${owner.name}, ${team?.id})
              on conflict (key) do nothing`
          }
          const [known] = user
            ? await tx`select id from identity.users where email = ${owner.key}`
            : await tx`select id from identity.service_accounts where key = ${owner.key}`
          const id: string = known?.id
          if (user) {
            await tx`
              insert into identity.team_memberships (user_id, team_id, role)
              values (${id}, ${team?.id}, ${owner.teamRole}) on conflict (user_id) do nothing`
          }
          // The secret is random and discarded.
          await tx`
            insert into identity.api_keys (id, public_id, secret_hash, name, user_id,
              service_account_id, model_grant_mode)
            select ${Bun.randomUUIDv7()}, translate(substr(md5(${id}), 1, 16), '01389', 'vwxyz'),
              md5(random()::text) || md5(random()::text), 'demo', ${user ? id : null},
              ${user ? null : id}, ${user ? 'all' : 'explicit'}
            on conflict (public_id) do nothing`
          const [key] = await tx`
            select id from identity.api_keys
            where name = 'demo' and ${id} in (user_id, service_account_id)`
          rows.push({ ...owner, id, teamId: team?.id, apiKeyId: key?.id })
        }
        return rows
      })
    },

    async budgets(owners, now) {
      for (const [n, owner] of owners.entries()) {
        // Every sixth user has a budget; two are nearly used up, and one is exceeded.
        if (owner.kind === 'user' && n % 6 !== 0) continue
        const room = n === 0 ? 1.1 : n === 6 ? 1.2 : n === 12 ? 0.9 : 3
        const user = owner.kind === 'user'
        const key = `budget:v1:${owner.kind}:${owner.id}`
        await sql`
          insert into accounting.budgets (budget_id, scope_key, scope_kind, user_id,
            service_account_id, budget_source, active, cadence, amount_pico_usd, hard_limit)
          select ${Bun.randomUUIDv7()}, ${key}, ${owner.kind}, ${user ? owner.id : null},
            ${user ? null : owner.id}, 'manual', true, 'monthly',
            greatest(round(coalesce(sum(spent), 0) * ${room}::float8::numeric, -10), 1000000000000),
            ${room > 1}
          from accounting.spend_counters
          where scope_key = ${key} and utc_day >= date_trunc('month', ${now}::timestamptz)::date
          on conflict (scope_key) do nothing`
      }
    },
  }
}
