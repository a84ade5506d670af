import type {
  ConfigDraft,
  ConfigPath,
  JsonObject,
  Plugin,
  ProviderTypeSpec,
} from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import { createSnapshot, loadedProviders } from './build.ts'
import {
  builtinHint,
  collectDeclared,
  collectSections,
  collectTypes,
  type Report,
  runCheck,
  shapePluginConfigs,
} from './contributions.ts'
import { databaseUrl, withDatabaseUrl } from './database-url.ts'
import { fieldOf, matchKeys } from './fields.ts'
import type { LoadedConfig, LoadedPlugin, ResolvedPlugins } from './loaded.ts'
import { modelKeys } from './model-section.ts'
import type { ParsedConfig } from './parse.ts'
import { checkPluginRules } from './plugin-rules.ts'
import { hasErrors, type LocatedProblem, sortProblems } from './problems.ts'
import { declaredIds, type Pruned } from './rules.ts'
import {
  kernelSections,
  type ProviderTypes,
  providerCommonKeys,
  type RootEntry,
  rootSchema,
} from './schema.ts'
import type { Environment } from './secrets.ts'
import { noBind, parseBind } from './server-section.ts'
import { originalPath, type Shaping, shape } from './shape.ts'

export interface CheckedConfig {
  /** Undefined if a problem is an error. */
  readonly loaded?: LoadedConfig
  /** In file order. */
  readonly problems: readonly LocatedProblem[]
}

function bindAddress(root: Pruned<RootEntry>, env: Environment, report: Report) {
  if (env.GATEWAY_BIND === undefined || env.GATEWAY_BIND === '') {
    return parseBind(root.server?.bind ?? '')
  }
  const override = parseBind(env.GATEWAY_BIND)
  if (override === undefined) report(noBind(['server', 'bind'], 'GATEWAY_BIND '))
  return override
}

/** Checks of provider types that their schemas cannot express. */
function checkWithTypes(
  root: Pruned<RootEntry>,
  types: ProviderTypes,
  owners: ReadonlyMap<ProviderTypeSpec, LoadedPlugin>,
  isWritten: (path: ConfigPath) => boolean,
  report: Report,
) {
  const byId = new Map<string, { entry: JsonObject; spec: ProviderTypeSpec; by: LoadedPlugin }>()
  for (const [index, provider] of (root.providers ?? []).entries()) {
    const spec = types.find(provider.type, true)
    const by = spec && owners.get(spec)
    if (spec === undefined || by === undefined) continue
    const entry = { ...provider, type: spec.type } as JsonObject
    if (provider.id !== undefined && !byId.has(provider.id))
      byId.set(provider.id, { entry, spec, by })
    runCheck(by, ['providers', index], () => spec.checkProvider?.(entry), report)
  }
  for (const [index, model] of (root.models ?? []).entries()) {
    for (const [at, route] of (model.routes ?? []).entries()) {
      const provider = byId.get(route.provider ?? '')
      if (provider === undefined) continue
      const { spec, entry, by } = provider
      const path = ['models', index, 'routes', at]
      const stated = Object.entries(route.capabilities ?? {}).filter(([flag]) =>
        isWritten([...path, 'capabilities', flag]),
      )
      const capabilities = Object.fromEntries(stated)
      runCheck(
        by,
        path,
        () => spec.checkRoute?.({ ...route, capabilities } as unknown as JsonObject, entry),
        report,
      )
    }
  }
}

/** Asks the isolating plugin whether it can isolate the plugins with `isolation`. */
function checkIsolation(plugins: readonly LoadedPlugin[], report: Report) {
  for (const by of plugins) {
    for (const { plugin, path } of plugins.filter(({ isolation }) => isolation !== undefined)) {
      const check = () => by.plugin.manifest.isolates?.(plugin.manifest)
      runCheck(by, [...path, 'isolation'], check, report)
    }
  }
}

/**
 * Checks a whole config and reports all problems at once. Wrongly typed parts are removed and the
 * rest is checked further, so that a type error does not hide other problems. `builtins` are used
 * for hints that name the built-in that owns an unknown key.
 */
export function checkConfig(
  parsed: ParsedConfig,
  resolved: ResolvedPlugins,
  env: Environment,
  builtins: Readonly<Record<string, Plugin>> = {},
): CheckedConfig {
  const problems: LocatedProblem[] = [...parsed.problems]
  const report: Report = (problem) => {
    problems.push({ ...problem, ...parsed.locate(problem.path) })
  }
  for (const problem of resolved.problems) report(problem)
  if (parsed.data === undefined) return { problems: sortProblems(problems) }

  const { plugins, complete } = resolved
  const use: Shaping = { env, report, fill: true, origins: new WeakMap() }
  const contributed = collectDeclared(plugins, complete, report)
  const sections = collectSections(plugins, contributed, report)
  const { types, owners } = collectTypes(plugins, complete, report)
  const data = withDatabaseUrl(parsed.data)
  const known = [...new Set([...kernelSections, ...Object.keys(sections)])]
  const listed = (name: string) => fieldOf(data, name, known)
  const typesById = new Map<unknown, ProviderTypeSpec | undefined>()
  const rawProviders = listed('providers')
  for (const entry of Array.isArray(rawProviders) ? rawProviders : []) {
    const id = fieldOf(entry, 'id', providerCommonKeys)
    const type = types.find(fieldOf(entry, 'type', providerCommonKeys), true)
    if (!typesById.has(id)) typesById.set(id, type)
  }
  const declared = {
    ...declaredIds(rawProviders, providerCommonKeys),
    typeOf: (provider: unknown) => typesById.get(provider),
    dialects: plugins.flatMap(({ plugin }) => plugin.manifest.dialects ?? []),
  }
  const whole = rootSchema(sections, types, declared, complete, builtinHint(builtins))
  const root = shape(whole, data, [], use) as Pruned<RootEntry> & Record<string, unknown>
  const pluginConfigs = shapePluginConfigs(plugins, use)

  const inFile: Report = (problem) =>
    report({ ...problem, path: originalPath(root, problem.path, use) })
  const address = bindAddress(root, env, inFile)
  const url = databaseUrl(root, env, inFile)
  const isWritten = (path: ConfigPath) => {
    let node: unknown = data
    for (const part of originalPath(root, path, use))
      node = (node as JsonObject | undefined)?.[part]
    return node !== undefined
  }
  checkWithTypes(root, types, owners, isWritten, inFile)
  const written = matchKeys(data, known).written
  const draft: ConfigDraft = {
    modelIds: declaredIds(listed('models'), modelKeys).ids,
    providerIds: declared.ids,
    declared: contributed,
    section: (name) => (written.has(name) ? root[name] : undefined),
  }
  for (const by of plugins) runCheck(by, [], () => by.plugin.manifest.check?.(draft), inFile)
  checkIsolation(plugins, inFile)
  const providerTypes = (root.providers ?? []).map(({ type }) => types.find(type, true))
  const hasSection = (name: string) => written.has(name)
  for (const problem of checkPluginRules({ plugins, hasSection, providerTypes })) inFile(problem)

  const sorted = sortProblems(problems)
  if (hasErrors(sorted) || address === undefined) return { problems: sorted }
  const checked = root as unknown as RootEntry & Readonly<Record<string, unknown>>
  const providers = loadedProviders(checked, types)
  return {
    problems: sorted,
    loaded: {
      snapshot: createSnapshot(parsed, checked, providers, new Set(Object.keys(sections))),
      server: deepFreeze({ ...checked.server, bind: address }),
      databaseUrl: url,
      providers,
      pluginConfigs,
    },
  }
}
