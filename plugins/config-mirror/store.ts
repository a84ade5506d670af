import type { Database } from 'model-gateway/plugin'
import { columnNames } from '../_shared/batch-row.ts'
import type { MirrorRows } from './rows.ts'

export interface Store {
  /** Updates the tables to the rows in one transaction; replicas take turns. */
  replace(rows: MirrorRows): Promise<void>
}

const modelFields = `description text, tags text[], rank bigint, alias_of text,
  allowlist_json jsonb, config_version text`
const routeFields = `provider_key text, upstream_model text, priority bigint,
  weight double precision, enabled boolean, capabilities_json jsonb, compatibility_json jsonb,
  extra_header_names text[], config_version text`

/** The statements that update `table` to `input`. They do not touch or lock unchanged rows. */
function sync(table: string, key: string, input: string, fields: readonly string[]) {
  const all = (prefix: string) => fields.map((name) => `${prefix}.${name}`).join(', ')
  return {
    update: `
      update ${table} as t
      set ${fields.map((name) => `${name} = i.${name}`).join(', ')}, active = true, updated_at = now()
      from ${input} i
      where t.${key} = i.${key} and (t.active, ${all('t')}) is distinct from (true, ${all('i')})`,
    insert: `
      insert into ${table} (${key}, ${fields.join(', ')})
      select i.${key}, ${all('i')} from ${input} i
      where not exists (select from ${table} t where t.${key} = i.${key})`,
    retire: `
      update ${table} as t set active = false, updated_at = now()
      where active and not exists (select from ${input} i where i.${key} = t.${key})`,
  }
}

export function createStore({ sql, schema }: Database): Store {
  const modelTable = `"${schema}".gateway_models`
  const routeTable = `"${schema}".model_routes`
  const models = sync(
    modelTable,
    'model_key',
    `(select * from json_to_recordset($1::text::json) as m (model_key text, ${modelFields}))`,
    columnNames(modelFields),
  )
  const routes = sync(
    routeTable,
    'route_key',
    `(select r.*, m.id as model_id
      from json_to_recordset($1::text::json) as r (route_key text, model_key text, ${routeFields})
      join ${modelTable} m using (model_key))`,
    ['model_id', ...columnNames(routeFields)],
  )

  return {
    async replace(rows) {
      await sql.begin(async (session) => {
        await session`select pg_advisory_xact_lock(hashtextextended(${`${schema} replace`}, 0))`
        for (const [{ update, insert, retire }, input] of [
          [models, JSON.stringify(rows.models)],
          [routes, JSON.stringify(rows.routes)],
        ] as const) {
          for (const statement of [update, insert, retire]) await session.unsafe(statement, [input])
        }
      })
    },
  }
}
