import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { schemaName } from '../../kernel/storage/schema-name.ts'
import { builtins } from '../../plugins/standard/builtins.ts'

const root = resolve(import.meta.dir, '../..')
const NO_PART = /\.test\.ts$|\.fixture\.ts$|\/testing\.ts$|__fixtures__|^console\/app\//

/** The tables of each schema. */
type Tables = ReadonlyMap<string, readonly string[]>

/** Plugins with a folder of their own, by the names of their schemas. */
const plugins = new Map(
  Object.entries(builtins)
    .filter(([name]) => existsSync(join(root, 'plugins', name)))
    .map(([name, { manifest }]) => [schemaName(manifest.id), { name, manifest }]),
)

const tables: Tables = new Map(
  [...plugins].map(([schema, { manifest }]) => [
    schema,
    (manifest.migrations ?? []).flatMap(({ sql }) =>
      [...sql.matchAll(/\bcreate table (?:if not exists )?(\w+)/gi)].map(([, name]) => `${name}`),
    ),
  ]),
)

/** The schemas that a text names as SQL or Drizzle does: with a table, or as a value put into SQL. */
function schemasIn(text: string, known: Tables): string[] {
  return [...known]
    .filter(([schema, names]) => {
      const table = new RegExp(`(?<![\\w.])"?${schema}"?\\."?(?:\\$\\{|(?:${names.join('|')})\\b)`)
      if (names.length > 0 && table.test(text)) return true
      if (new RegExp(`pgSchema\\(\\s*['"]${schema}['"]`).test(text)) return true
      const constants = text.matchAll(new RegExp(`\\b(\\w+) = ['"]${schema}['"]`, 'g'))
      return [...constants].some(([, name]) => text.includes(`\${${name}}"`))
    })
    .map(([schema]) => schema)
}

/** Schemas of other plugins that the code and the migrations of a plugin name. */
function foreignSchemas(folder: string, own: string | undefined): string[] {
  const code = [...new Bun.Glob('**/*.ts').scanSync(join(root, 'plugins', folder))]
    .filter((path) => !NO_PART.test(`${folder}/${path}`))
    .map((path) => readFileSync(join(root, 'plugins', folder, path), 'utf8'))
  const migrations = (own === undefined ? [] : (plugins.get(own)?.manifest.migrations ?? [])).map(
    ({ sql }) => sql,
  )
  const text = [...code, ...migrations].join('\n')
  return schemasIn(text, tables).filter((schema) => schema !== own)
}

test('a plugin that names the tables of another plugin requires it', () => {
  const planted = new Map([['request_log', ['request_logs']]])
  for (const line of [
    'select * from request_log.request_logs',
    'join "request_log"."request_logs" using (id)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
    'insert into request_log.${table}',
    "const logs = pgSchema('request_log')",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
    'const log = \'request_log\'\nsql`select from "${log}".request_logs`',
  ]) {
    expect(schemasIn(line, planted)).toEqual(['request_log'])
  }
  expect(schemasIn("schedule.every(1, () => tell('request_log.queued'))", planted)).toEqual([])

  expect(plugins.size).toBeGreaterThan(10)
  const missing = [...plugins].flatMap(([own, { name, manifest }]) =>
    foreignSchemas(name, own)
      .map((schema) => `${plugins.get(schema)?.manifest.id}`)
      .filter((id) => !manifest.requires?.some((required) => required === id))
      .map((id) => `${manifest.id} reads tables of ${id}: add it to requires`),
  )
  expect(missing).toEqual([])
})

test('what all plugins share names the tables of none', () => {
  expect(foreignSchemas('_shared', undefined)).toEqual([])
})
