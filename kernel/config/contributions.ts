import { KindGuard, OptionalKind, type TSchema, Type } from '@sinclair/typebox'
import {
  type ConfigPath,
  type ConfigSection,
  type Declared,
  formatPath,
  nameAt,
  type Plugin,
  type Problem,
  type ProviderTypeSpec,
} from '../plugin/index.ts'
import { isFields } from './fields.ts'
import type { LoadedPlugin } from './loaded.ts'
import { isOwnField, kernelSections, providerTypes } from './schema.ts'
import { ServerSection } from './server-section.ts'
import { type Shaping, shape } from './shape.ts'

/** Commands of the program itself; plugins cannot claim their names. */
const kernelCommands = [
  'serve',
  'check-config',
  'migrate',
  'healthcheck',
  'help',
  'version',
] as const
export type KernelCommand = (typeof kernelCommands)[number]

export type Report = (problem: Problem) => void

/** Runs the check of a plugin on a part of the file; reports it as a problem if it throws. */
export function runCheck(
  { plugin, path }: LoadedPlugin,
  part: ConfigPath,
  check: () => Iterable<Problem> | undefined,
  report: Report,
) {
  try {
    for (const problem of check() ?? []) {
      if (!Array.isArray(problem?.path) || typeof problem.message !== 'string') {
        throw new Error('it reported a problem without path or message')
      }
      report({ ...problem, path: [...part, ...problem.path] })
    }
  } catch (error) {
    const what = part.length === 0 ? 'the config' : formatPath(part)
    const message = `plugin "${plugin.manifest.id}" failed to check ${what}: ${String(error)}`
    report({ path, message })
  }
}

type Claim = readonly [name: string, by: LoadedPlugin]

/** The name and aliases of something that a plugin brings. */
function claimsOf(name: string, aliases: readonly string[] | undefined, by: LoadedPlugin): Claim[] {
  return [name, ...(aliases ?? [])].map((one) => [one, by])
}

/** Reports each name that two plugins claim. `taken`: names that already have an owner. */
function claim(
  what: string,
  claims: readonly Claim[],
  report: Report,
  taken: ReadonlyMap<string, string> = new Map(),
) {
  const owners = new Map(taken)
  for (const [name, { plugin, path }] of claims) {
    const owner = owners.get(name)
    if (owner === undefined) owners.set(name, `plugin "${plugin.manifest.id}"`)
    else {
      const message = `plugin "${plugin.manifest.id}" claims ${what} "${name}", which belongs to ${owner}`
      report({ path, message, hint: 'load only one of them' })
    }
  }
}

/** The provider types that plugins declare, each with its plugin. */
export function collectTypes(plugins: readonly LoadedPlugin[], complete: boolean, report: Report) {
  const owners = new Map<ProviderTypeSpec, LoadedPlugin>()
  for (const by of plugins) {
    for (const spec of by.plugin.manifest.providerTypes ?? []) owners.set(spec, by)
  }
  const claims = [...owners].flatMap(([spec, by]) => claimsOf(spec.type, spec.aliases, by))
  claim('provider type', claims, report)
  for (const [{ type, config }, { plugin, path }] of owners) {
    for (const name of Object.keys(config.properties).filter((key) => !isOwnField(key))) {
      const message = `plugin "${plugin.manifest.id}" gives provider type "${type}" the field "${name}", which every provider has`
      report({ path, message, hint: 'give the field another name' })
    }
  }
  return { types: providerTypes([...owners.keys()], complete), owners }
}

/** What plugins declare at the points of other plugins; reports names that two plugins claim. */
export function collectDeclared(
  plugins: readonly LoadedPlugin[],
  complete: boolean,
  report: Report,
): Declared {
  const brought = plugins.flatMap((by) =>
    (by.plugin.manifest.declares ?? []).map((declaration) => ({ ...declaration, by })),
  )
  const commandClaims = plugins.flatMap((by) =>
    (by.plugin.manifest.commands ?? []).map(({ name }): Claim => [name, by]),
  )
  for (const [what, of] of Map.groupBy(brought, ({ point }) => point.what ?? '')) {
    const claims = of.flatMap(({ by, point, spec }) => {
      const { aliases } = spec as { readonly aliases?: readonly string[] }
      return claimsOf(nameAt(point, spec), aliases, by)
    })
    claim(what, claims, report)
  }
  const kernel = new Map(kernelCommands.map((name) => [name as string, 'the kernel']))
  claim('command', commandClaims, report, kernel)
  return {
    partial: !complete,
    brought: brought.map(({ point, spec, by: { plugin, onBootFailure } }) => ({
      point: point.name,
      spec,
      plugin: plugin.manifest.id,
      dispensable: onBootFailure === 'disable',
    })),
  }
}

/**
 * The schemas of the sections that plugins own, as properties of the root. `server` has the keys of
 * the kernel and those that plugins add.
 */
export function collectSections(
  plugins: readonly LoadedPlugin[],
  declared: Declared,
  report: Report,
) {
  const sections = plugins.flatMap((by) =>
    (by.plugin.manifest.sections ?? []).map((section) => ({ section, by })),
  )
  const own = [...kernelSections, ...Object.keys(ServerSection.properties).map(serverKey)]
  const kernel = new Map(own.map((name) => [name, 'the kernel']))
  const schemas: Record<string, TSchema> = {}
  const server: Record<string, TSchema> = {}
  const claims: Claim[] = []
  for (const { section, by } of sections) {
    const { name } = section
    const schema = schemaOf(section, by, declared, report)
    if (name === 'server') {
      for (const [key, property] of Object.entries<TSchema>(schema.properties ?? {})) {
        claims.push([serverKey(key), by])
        if (!kernel.has(serverKey(key))) server[key] = property
      }
      schemas.server = Type.Object({ ...ServerSection.properties, ...server }, { default: {} })
    } else {
      claims.push([name, by])
      if (!kernel.has(name)) schemas[name] = asRootProperty(schema)
    }
  }
  claim('section', claims, report, kernel)
  return schemas
}

/** A section's schema as a property of the root; an absent required section counts as empty. */
function asRootProperty(schema: TSchema): TSchema {
  if ('default' in schema || OptionalKind in schema) return schema
  if (schema.type === 'array') return { ...schema, default: [] }
  return schema.type === 'object' ? { ...schema, default: {} } : schema
}

const serverKey = (key: string) => `server.${key}`

/** Hints at the built-in that has a section, or a key of `server`, if no loaded plugin has it. */
export function builtinHint(builtins: Readonly<Record<string, Plugin>>) {
  return (section: string, key?: string) => {
    const has = ({ manifest }: Plugin) =>
      manifest.sections?.some(
        ({ name, schema }) => name === section && (key === undefined || key in schema.properties),
      )
    const owner = Object.entries(builtins).find(([, plugin]) => has(plugin))
    return owner && `load builtin:${owner[0]}`
  }
}

/** If the plugin fails to return a schema, the section is not checked further. */
function schemaOf(
  section: ConfigSection,
  by: LoadedPlugin,
  declared: Declared,
  report: Report,
): TSchema {
  try {
    const made = section.schemaFor?.(declared) ?? section.schema
    if (KindGuard.IsSchema(made)) return made
    throw new Error('schemaFor must return a TypeBox schema')
  } catch (error) {
    const message = `plugin "${by.plugin.manifest.id}" failed to make the schema of section ${section.name}: ${String(error)}`
    report({ path: by.path, message })
    return Type.Unknown()
  }
}

/** The `plugins[].config` values, checked against each plugin's schema, by plugin id. */
export function shapePluginConfigs(plugins: readonly LoadedPlugin[], use: Shaping) {
  const configs = new Map<string, unknown>()
  for (const { plugin, path, config } of plugins) {
    // A config of the wrong type is already reported with the section `plugins`.
    if (config !== undefined && !isFields(config)) continue
    const { id } = plugin.manifest
    const report: Report = (problem) =>
      use.report({ ...problem, message: `${problem.message} (plugin "${id}")` })
    const at = [...path, 'config']
    configs.set(id, shape(plugin.manifest.config, config ?? {}, at, { ...use, report }))
  }
  return configs
}
