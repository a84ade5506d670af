import type { LoadedPlugin, ResolvedPlugins } from '../config/loaded.ts'
import type { Problem } from '../plugin/index.ts'

/** Whether a plugin runs those that are to be isolated. */
export const isolates = ({ plugin }: Pick<LoadedPlugin, 'plugin'>): boolean =>
  plugin.manifest.isolates !== undefined

export interface Ordered {
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly Problem[]
}

/**
 * Sorts plugins so that each comes behind those that its `after` and `requires` name, and behind the one
 * that isolates it if it is to be isolated; those that are `early` come first, and otherwise each stays
 * where it was. An id in `after` that is not loaded does not matter, one in `requires` is a
 * problem, unless it may be one of those that could not be loaded; so is a cycle.
 */
export function orderPlugins({
  plugins,
  complete,
}: Pick<ResolvedPlugins, 'plugins' | 'complete'>): Ordered {
  const byId = new Map(plugins.map((loaded) => [loaded.plugin.manifest.id as string, loaded]))
  const ordered = new Set<LoadedPlugin>()
  const problems: Problem[] = []

  function visit(loaded: LoadedPlugin, trail: readonly LoadedPlugin[]) {
    if (ordered.has(loaded)) return
    const start = trail.indexOf(loaded)
    if (start >= 0) {
      const cycle = [...trail.slice(start), loaded].map(
        ({ plugin, use }) => `${plugin.manifest.id} (${use})`,
      )
      problems.push({
        path: loaded.path,
        message: `plugins wait for each other in a circle: ${cycle.join(' → ')}`,
      })
      return
    }
    const { id: own, after = [], requires = [] } = loaded.plugin.manifest
    for (const id of requires) {
      if (byId.has(id) || !complete) continue
      problems.push({
        path: loaded.path,
        message: `plugin "${own}" (${loaded.use}) requires plugin "${id}", which is not loaded`,
        hint: 'add an entry for it to plugins',
      })
    }
    const isolator = loaded.isolation && plugins.find(isolates)
    for (const earlier of [...[...after, ...requires].map((id) => byId.get(id)), isolator]) {
      if (earlier !== undefined) visit(earlier, [...trail, loaded])
    }
    ordered.add(loaded)
  }
  const isEarly = ({ plugin }: LoadedPlugin) => plugin.manifest.early === true
  for (const loaded of plugins.filter(isEarly)) visit(loaded, [])
  for (const loaded of plugins) visit(loaded, [])
  return { plugins: [...ordered], problems }
}
