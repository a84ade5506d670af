import type { LoadedPlugin, ResolvedPlugins } from '../config/loaded.ts'
import { type ExtensionPoint, type Plugin, type Problem, requiredPoints } from '../plugin/index.ts'
import { sorted } from '../plugin/sorted.ts'
import type { Builtins } from './resolve.ts'

/** Whether a plugin can isolate others. */
export const isolates = ({ plugin }: Pick<LoadedPlugin, 'plugin'>): boolean =>
  plugin.manifest.isolates !== undefined

export interface Ordered {
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly Problem[]
}

/**
 * Sorts plugins: each comes after those in its `after` and `requires` and after the plugin that
 * isolates it; `early` plugins come first; otherwise the order is kept. Unknown ids in `after` are
 * ignored. Problems: a cycle and, if all plugins could be loaded, an unknown id in `requires` or a
 * point in `uses` that no plugin provides.
 */
export function orderPlugins(
  { plugins, complete }: Pick<ResolvedPlugins, 'plugins' | 'complete'>,
  builtins: Builtins = {},
): Ordered {
  const byId = new Map(plugins.map((loaded) => [loaded.plugin.manifest.id as string, loaded]))
  const problems: Problem[] = complete ? [...unmet(plugins, builtins)] : []
  const isolator = plugins.find(isolates)
  const isEarly = ({ plugin }: LoadedPlugin) => plugin.manifest.early === true
  const ordered = sorted(
    [...plugins.filter(isEarly), ...plugins],
    ({ plugin: { manifest }, isolation }) => {
      const { after = [], requires = [] } = manifest
      const earlier = [...after, ...requires].map((id) => byId.get(id))
      return [...earlier, isolation && isolator].filter((each) => each !== undefined)
    },
    (chain) => {
      const names = chain.map(({ plugin, use }) => `${plugin.manifest.id} (${use})`)
      problems.push({
        path: chain[0]?.path ?? [],
        message: `plugins depend on each other in a cycle: ${names.join(' → ')}`,
      })
    },
  )
  return { plugins: ordered, problems }
}

/** Reports required plugins and points that no loaded plugin provides. */
function* unmet(plugins: readonly LoadedPlugin[], builtins: Builtins): Iterable<Problem> {
  const ids = new Set<string>(plugins.map(({ plugin }) => plugin.manifest.id))
  const provides = ({ manifest }: Plugin, point: ExtensionPoint<unknown>) =>
    manifest.provides?.some(({ name }) => name === point.name) === true
  for (const { plugin, use, path } of plugins) {
    const { id, requires = [], uses = {} } = plugin.manifest
    for (const required of requires.filter((name) => !ids.has(name))) {
      yield {
        path,
        message: `plugin "${id}" (${use}) requires plugin "${required}", which is not loaded`,
        hint: 'add an entry for it to plugins',
      }
    }
    for (const point of requiredPoints(uses)) {
      if (plugins.some((other) => provides(other.plugin, point))) continue
      const [builtin] = Object.entries(builtins).find(([, other]) => provides(other, point)) ?? []
      yield {
        path,
        message: `plugin "${id}" (${use}) uses ${point.name}, which no loaded plugin provides`,
        hint: `add ${builtin === undefined ? 'a plugin that provides it' : `builtin:${builtin}`} to plugins`,
      }
    }
  }
}
