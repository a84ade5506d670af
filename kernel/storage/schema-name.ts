/**
 * The name of a plugin's Postgres schema: the second part of its id, after the kind unless that is
 * `plugin`. `plugin.my-log` → `my_log`, `provider.my-wire` → `provider_my_wire`. The kernel's id,
 * `kernel`, has no kind.
 */
export function schemaName(pluginId: string): string {
  const dot = pluginId.indexOf('.')
  const kind = pluginId.slice(0, Math.max(dot, 0))
  const name = pluginId.slice(dot + 1)
  const schema = (kind === '' || kind === 'plugin' ? name : `${kind}_${name}`).replaceAll('-', '_')
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(schema) || /^pg_|^(public|information_schema)$/.test(schema)) {
    throw new Error(`plugin id ${pluginId} cannot be turned into a database schema name`)
  }
  if (kind !== '' && schema === 'kernel') {
    throw new Error(`plugin id ${pluginId} would share the kernel's database schema`)
  }
  // Plugins keep files in folders of these names, next to the embedded database.
  if (schema === 'postgres') {
    throw new Error(`plugin id ${pluginId} would use the folder of the database`)
  }
  return schema
}
