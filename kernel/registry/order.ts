import type { LoadedPlugin } from '../config/loaded.ts'
import type { Problem } from '../plugin/index.ts'

export interface Ordered {
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly Problem[]
}

/**
 * Sorts plugins so that each comes behind those that its `after` names, and otherwise stays where
 * it was. Ids of plugins that are not loaded do not matter; a cycle is a problem.
 */
export function orderPlugins(plugins: readonly LoadedPlugin[]): Ordered {
  const byId = new Map(plugins.map((loaded) => [loaded.plugin.manifest.id as string, loaded]))
  const ordered = new Set<LoadedPlugin>()
  const problems: Problem[] = []

  function visit(loaded: LoadedPlugin, trail: readonly LoadedPlugin[]) {
    if (ordered.has(loaded)) return
    const start = trail.indexOf(loaded)
    if (start >= 0) {
      const cycle = [...trail.slice(start), loaded].map(({ plugin }) => plugin.manifest.id)
      problems.push({
        path: loaded.path,
        message: `plugins wait for each other in a circle: ${cycle.join(' → ')}`,
      })
      return
    }
    for (const id of loaded.plugin.manifest.after ?? []) {
      const earlier = byId.get(id)
      if (earlier !== undefined) visit(earlier, [...trail, loaded])
    }
    ordered.add(loaded)
  }
  for (const loaded of plugins) visit(loaded, [])
  return { plugins: [...ordered], problems }
}
