/** `bun run docs:config`: writes docs/configuration.md from the schemas of kernel and plugins. */

import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { collectDeclared, collectSections, collectTypes } from '../kernel/config/contributions.ts'
import type { LoadedPlugin } from '../kernel/config/loaded.ts'
import { kernelSections, rootSchema } from '../kernel/config/schema.ts'
import { schemaFor } from '../kernel/config/variants.ts'
import type { ProviderTypeSpec } from '../kernel/plugin/index.ts'
import { declaredPacks } from '../plugins/guardrails/config.ts'
import { builtins } from '../plugins/standard/builtins.ts'
import { type Row, rowsOf, tableOf } from './schema-rows.ts'

export const referenceFile = join(import.meta.dir, '../docs/configuration.md')

const INTRODUCTION = `# Configuration

This page lists every key of the config file. [\`gateway.example.yaml\`](../gateway.example.yaml) shows them in use,
with comments. \`gateway check-config\` reports every mistake of a file at once. Providers and models can also be in a
[managed file](managed-config.md) next to the config file.

- An unknown key is refused, with the key that you probably meant.
- A *secret* is a reference: \`env.NAME\` is an environment variable, \`file./absolute/path\` the content of a file,
  and \`literal.VALUE\` the value itself.
- In the tables, \`[]\` means each entry of a list, and \`NAME\` a key that you choose.
- A key is optional unless the table says \`required\`.

The page is generated from the schemas of the gateway and its plugins: \`bun run docs:config\`.

| Variable             | Replaces                                                       |
| -------------------- | -------------------------------------------------------------- |
| \`GATEWAY_CONFIG\`     | \`--config\`: the config file; default \`./gateway.yaml\`          |
| \`GATEWAY_DATA_DIR\`   | \`--data-dir\`: the gateway's files; default \`./.gateway\`        |
| \`GATEWAY_BIND\`       | \`server.bind\`                                                  |
| \`DATABASE_URL\`       | \`database.url\`                                                 |
`

const MODELS = `The models that callers may ask for.

An id may contain one \`*\`, which matches any text of at least one character. The \`upstream_model\` of its routes
and \`alias_of\` may contain one too: with the id \`openai/*\` and the upstream model \`*\`, the name
\`openai/gpt-5\` is sent as \`gpt-5\`.

- A model whose id is the exact name comes first, then the longest id that matches.
- Grants, prices, budgets, policies, logs and reports use the full names. A budget is for one name. Grants,
  \`model_access\` and \`pricing.overrides\` may contain a \`*\`. The policy of a wildcard's route applies to all of
  its models.
- \`GET /v1/models\` lists the names that the price list of the provider contains. Callers can use other names too.
- A name has at most 400 bytes.`

/** The page, and the rows of its tables: all fields of all sections, provider types and checks. */
export interface Reference {
  readonly text: string
  readonly rows: readonly Row[]
}

export function configReference(): Reference {
  const plugins: LoadedPlugin[] = Object.entries(builtins).map(([name, plugin]) => ({
    plugin,
    use: `builtin:${name}`,
    path: ['plugins'],
    config: undefined,
  }))
  const fault = (problem: object) => {
    throw new Error(JSON.stringify(problem))
  }
  const declared = collectDeclared(plugins, true, fault)
  const sections = collectSections(plugins, declared, fault)
  const { types, owners } = collectTypes(plugins, true, fault)
  const specs = [...owners.keys()]
  const root = rootSchema(
    sections,
    types,
    {
      typeOf: (name) => types.find(name),
      dialects: plugins.flatMap(({ plugin }) => plugin.manifest.dialects ?? []),
      ids: new Set(),
      unidentified: 0,
    },
    true,
  )
  const properties = root.properties as Record<string, TSchema>
  const all: Row[] = []
  const parts: string[] = [INTRODUCTION]

  const add = (heading: string, about: string, rows: readonly Row[]) => {
    all.push(...rows)
    parts.push(`${heading}\n${about === '' ? '' : `\n${about}\n`}\n${tableOf(rows)}\n`)
  }
  const entry = (section: string, value: object) =>
    schemaFor((properties[section] as TSchema).items, value)
  const common = entry('providers', {})
  const commonKeys = Object.keys(common.properties)

  for (const name of kernelSections) {
    const schema = properties[name] as TSchema
    if (name === 'providers') {
      add(
        '## `providers[]`',
        'The upstreams. Each has these fields and those of its type.',
        rowsOf('', common),
      )
      for (const alike of groupsOf(specs)) addTypes(alike)
    } else if (name === 'models') {
      const route = schemaFor(schema.items.properties.routes.items, {})
      const withRoute = {
        ...schema.items.properties,
        routes: { ...schema.items.properties.routes, items: route },
      }
      add('## `models[]`', MODELS, rowsOf('', { ...schema.items, properties: withRoute }))
    } else if (name === 'plugins') {
      add(
        '## `plugins[]`',
        'The plugins to load. Without this key, all built-in plugins are loaded.',
        rowsOf('', schema.items),
      )
      parts.push(builtinList())
    } else add(`## \`${name}\``, '', rowsOf('', schema))
  }
  const ofPlugins = Object.entries(sections).filter(([name]) => name !== 'server')
  for (const [name, schema] of ofPlugins.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const owner = plugins.find(({ plugin }) =>
      plugin.manifest.sections?.some((section) => section.name === name),
    )
    const list = schema.type === 'array'
    const about = `Provided by \`${owner?.use}\`.`
    add(`## \`${name}${list ? '[]' : ''}\``, about, rowsOf('', list ? schema.items : schema))
  }
  parts.push(packList())
  return { text: parts.join('\n'), rows: all }

  function addTypes([spec, ...others]: readonly [ProviderTypeSpec, ...ProviderTypeSpec[]]) {
    const also = spec.aliases?.map((alias) => `\`${alias}\``).join(', ')
    const own = entry('providers', { type: spec.type })
    const properties = Object.fromEntries(
      Object.entries(own.properties).filter(([key]) => !commonKeys.includes(key)),
    )
    const rows = [
      ...rowsOf('', { ...own, properties } as TSchema),
      ...(Object.keys(spec.compatibility.properties).length === 0
        ? []
        : rowsOf('routes[].compatibility', spec.compatibility)),
    ]
    const about = `${also === undefined ? '' : `Also called ${also}. `}Provided by \`${owners.get(spec)?.use}\`. The keys below \`routes[]\` belong to the routes of models.`
    const names = [spec, ...others].map(({ type }) => `\`${type}\``).join(', ')
    add(`### Provider type${others.length === 0 ? '' : 's'} ${names}`, about, rows)
  }

  function builtinList(): string {
    const lines = plugins.map(
      ({ use, plugin: { manifest } }) => `- \`${use}\`: ${manifest.summary}`,
    )
    return `The built-in plugins:\n\n${lines.join('\n')}\n`
  }

  function packList(): string {
    const lines = declaredPacks(declared).map(({ spec: { id, aliases = [], phases } }) => {
      const also =
        aliases.length === 0 ? '' : `, also called ${aliases.map((a) => `\`${a}\``).join(', ')}`
      return `- \`${id}\`${also}: ${phases.join(', ')}`
    })
    return `## Guardrail packs\n\nNames for \`packs\`, and the phases in which each pack is evaluated.\n\n${lines.join('\n')}\n`
  }
}

/** Provider types grouped by their schema, because types with the same schema share a section. */
function groupsOf(specs: readonly ProviderTypeSpec[]): [ProviderTypeSpec, ...ProviderTypeSpec[]][] {
  const groups = new Map<TSchema, [ProviderTypeSpec, ...ProviderTypeSpec[]]>()
  for (const spec of specs) {
    const group = groups.get(spec.config)
    if (group === undefined) groups.set(spec.config, [spec])
    else group.push(spec)
  }
  return [...groups.values()]
}

if (import.meta.main) await Bun.write(referenceFile, configReference().text)
