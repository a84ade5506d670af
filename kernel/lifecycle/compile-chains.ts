import { type Middleware, type Seam, seams } from '../plugin/index.ts'
import { sorted } from '../plugin/sorted.ts'
import type { Chains, Link } from './chain.ts'

/**
 * The chain of each seam and surface id, outermost middleware first: in registration order,
 * adjusted by `before` and `after`. Throws an Error that names the plugins.
 */
export function compileChains(links: readonly Link[], surfaces: readonly string[]): Chains {
  const byId = new Map<string, Link>()
  for (const link of links) {
    const { id } = link.middleware
    const first = byId.get(id)
    if (first !== undefined) {
      throw new Error(
        `plugin "${link.plugin}" provides the middleware "${id}", which plugin "${first.plugin}" already provides`,
      )
    }
    byId.set(id, link)
  }
  const ordered = order(links)
  const chain = (seam: Seam, surface: string) =>
    Object.freeze(
      ordered.filter(
        ({ middleware: { around, appliesTo } }) =>
          around === seam && (appliesTo?.includes(surface) ?? true),
      ),
    )
  const ofSeam = (seam: Seam) => new Map(surfaces.map((surface) => [surface, chain(seam, surface)]))
  return Object.fromEntries(seams.map((seam) => [seam, ofSeam(seam)])) as unknown as Chains
}

/** Unknown ids in `before` and `after` are ignored. */
function order(links: readonly Link[]): readonly Link[] {
  const outside = (one: Middleware, other: Middleware) =>
    (one.before?.includes(other.id) ?? false) || (other.after?.includes(one.id) ?? false)
  return sorted(
    links,
    (link) => links.filter((other) => outside(other.middleware, link.middleware)),
    (chain) => {
      const names = chain.map(({ plugin, middleware: { id } }) => `"${id}" (plugin "${plugin}")`)
      throw new Error(
        `the before and after lists of middlewares form a cycle: ${names.toReversed().join(' → ')}`,
      )
    },
  )
}
