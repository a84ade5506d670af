import { isAbsolute, resolve } from 'node:path'
import type { LoadedPlugin, ResolvedPlugins } from '../config/loaded.ts'
import { type ConfigPath, inTime, type Plugin, type Problem } from '../plugin/index.ts'
import { schemaName } from '../storage/schema-name.ts'
import { didYouMean } from '../wire/suggest.ts'
import { isolates } from './order.ts'
import { locatePackage } from './packages.ts'
import { asPlugin } from './plugin-shape.ts'
import { registerSelfReference } from './self-reference.ts'

/** The built-in plugins by name. */
export type Builtins = Readonly<Record<string, Plugin>>

interface Entry {
  readonly use: string
  readonly config: unknown
  readonly path: ConfigPath
  readonly isolation?: 'worker' | undefined
  readonly onBootFailure?: 'stop' | 'disable' | undefined
}

const ALL = 'builtin:*'

/** The readable entries of section `plugins`; the config check reports the others. */
function readEntries(section: unknown): { entries: Entry[]; complete: boolean } {
  if (section === undefined) {
    return { entries: [{ use: ALL, config: undefined, path: ['plugins'] }], complete: true }
  }
  if (!Array.isArray(section)) return { entries: [], complete: false }
  const entries: Entry[] = []
  for (const [index, entry] of (section as unknown[]).entries()) {
    if (typeof entry !== 'object' || entry === null || !('use' in entry)) continue
    if (typeof entry.use !== 'string' || entry.use === '') continue
    const config = 'config' in entry ? entry.config : undefined
    const isolation = 'isolation' in entry && entry.isolation === 'worker' ? 'worker' : undefined
    const onBootFailure =
      'on_boot_failure' in entry && entry.on_boot_failure === 'disable' ? 'disable' : undefined
    const path = ['plugins', index]
    entries.push({ use: entry.use, config, path, isolation, onBootFailure })
  }
  return { entries, complete: entries.length === section.length }
}

/** Expands `builtin:*` to one entry for each built-in that is not listed separately. */
function expandAll(entries: readonly Entry[], builtins: Builtins): readonly Entry[] {
  const listed = new Set(entries.map(({ use }) => use))
  return entries.flatMap((entry) => {
    if (entry.use !== ALL) return [entry]
    const uses = Object.keys(builtins).map((name) => `builtin:${name}`)
    const others = uses.filter((use) => !listed.has(use))
    for (const use of others) listed.add(use)
    return others.map((use) => ({ use, config: undefined, path: entry.path }))
  })
}

/** The path of an entry's module; throws if it does not exist. */
function locateModule(use: string, folder: string): string {
  if (!use.startsWith('npm:')) return isAbsolute(use) ? use : resolve(folder, use)
  return locatePackage(use.slice('npm:'.length), [folder, process.cwd()])
}

const looksLikePath = (use: string) => /^\.{0,2}\//.test(use) || /\.[cm]?[jt]s$/.test(use)

async function importDefault(file: string, deadlineMs: number): Promise<unknown> {
  const imported = await inTime<unknown>(import(file), deadlineMs)
  if (imported === undefined) {
    throw new Error(`it was not imported within ${deadlineMs} ms: check its top-level await`)
  }
  const module = imported.value
  return typeof module === 'object' && module !== null && 'default' in module
    ? module.default
    : undefined
}

/** Why an import failed. Syntax errors include their place, which may be in another file. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  if (error instanceof BuildMessage && error.position !== null) {
    const { file, line, column } = error.position
    return `${file}:${line}:${column}: ${error.message}`
  }
  return error instanceof Error ? error.message : String(error)
}

type Found = { plugin: Plugin; module?: string } | Omit<Problem, 'path'>

async function find(
  use: string,
  { builtins, directory, importDeadlineMs = 30_000 }: ResolveOptions,
): Promise<Found> {
  let exported: unknown
  let module: string | undefined
  if (use.startsWith('builtin:')) {
    const name = use.slice('builtin:'.length)
    if (!Object.hasOwn(builtins, name)) {
      const names = Object.keys(builtins)
      return { message: `plugin ${use} does not exist`, hint: didYouMean(name, names, 'built-ins') }
    }
    exported = builtins[name]
  } else if (use.startsWith('npm:') || looksLikePath(use)) {
    try {
      module = locateModule(use, directory)
      exported = await importDefault(module, importDeadlineMs)
    } catch (error) {
      return { message: `plugin ${use} cannot be loaded: ${reasonOf(error)}` }
    }
  } else {
    const hint = `write builtin:${use}, npm:${use} or a path such as ./${use}.ts`
    return { message: `"${use}" does not say where the plugin is`, hint }
  }
  const result = asPlugin(exported)
  if ('fault' in result) {
    const file = module === undefined || module === use ? '' : ` (${module})`
    return { message: `plugin ${use}${file} ${result.fault}` }
  }
  return { ...result, ...(module !== undefined && { module }) }
}

export interface ResolveOptions {
  readonly builtins: Builtins
  /** The folder of the config file: base of relative paths and of package lookup. */
  readonly directory: string
  /** Milliseconds for the import of one plugin. Default 30 000. */
  readonly importDeadlineMs?: number
}

/**
 * Loads the plugins of section `plugins`: built-ins, files and packages. Without the section, loads
 * all built-ins.
 */
export async function resolvePlugins(
  section: unknown,
  options: ResolveOptions,
): Promise<ResolvedPlugins> {
  registerSelfReference(Object.values(options.builtins))
  const { entries, complete: readable } = readEntries(section)
  const plugins: LoadedPlugin[] = []
  const problems: Problem[] = []
  /** The plugin of each database schema, because two ids can give the same schema name. */
  const schemas = new Map<string, { readonly id: string; readonly use: string }>()
  let complete = readable
  for (const { use, path, ...own } of entries) {
    if (use !== ALL) continue
    for (const [key, what] of [
      ['config', own.config],
      ['isolation', own.isolation],
      ['on_boot_failure', own.onBootFailure],
    ] as const) {
      if (what === undefined) continue
      problems.push({
        path: [...path, key],
        message: `${key} applies to one plugin, but ${ALL} loads many`,
        hint: 'add a separate entry for that plugin',
      })
    }
  }
  for (const entry of expandAll(entries, options.builtins)) {
    const { use, path } = entry
    const found = await find(use, options)
    if (!('plugin' in found)) {
      complete = false
      problems.push({ ...found, path: path.length > 1 ? [...path, 'use'] : path })
      continue
    }
    const { plugin } = found
    const { id } = plugin.manifest
    const schema = schemaName(id)
    const first = schemas.get(schema)
    if (first === undefined) {
      schemas.set(schema, { id, use })
      plugins.push({ ...entry, ...found })
    } else if (first.id === id) {
      const message = `plugin "${id}" is loaded twice, by ${first.use} and ${use}`
      problems.push({ path, message, hint: 'remove one of them' })
    } else {
      const message = `plugin "${id}" (${use}) would share the database schema ${schema} with plugin "${first.id}" (${first.use})`
      problems.push({ path, message, hint: 'change the id of one of them' })
    }
  }
  const apart = plugins.find(({ isolation }) => isolation !== undefined)
  if (apart !== undefined && complete && !plugins.some(isolates)) {
    const builtins = Object.entries(options.builtins)
      .filter(([, plugin]) => isolates({ plugin }))
      .map(([name]) => `builtin:${name}`)
    problems.push({
      path: [...apart.path, 'isolation'],
      message: `no loaded plugin can isolate others in a ${apart.isolation}`,
      hint: `add ${builtins.join(' or ') || 'a plugin that can'} to plugins`,
    })
  }
  return { plugins, problems, complete }
}
