import {
  type BoundRouteFacts,
  createNameList,
  fillWildcard,
  isWildcard,
  type ModelSpec,
} from 'model-gateway/host'

export interface ListedNamesOptions {
  readonly models: ReadonlyMap<string, ModelSpec>
  /** What became of a route, by its id; undefined: it is not in force. */
  readonly bound: (routeId: string) => BoundRouteFacts | undefined
  /** The models that a price list knows. */
  readonly priced: (pricingProviderId: string) => readonly string[]
}

/**
 * The names that each wildcard of a config stands for, as far as they can be listed: those that the price
 * list of its provider knows, and of an alias those that its target has. Sorted.
 */
export function listedNames(options: ListedNamesOptions): (wildcard: string) => readonly string[] {
  const { models, bound, priced } = options
  const entries = createNameList(models.keys())
  const known = new Map<string, readonly string[]>()

  function namesOf(id: string): readonly string[] {
    const names = known.get(id)
    if (names !== undefined) return names
    // Aliases may lead on through each other.
    known.set(id, [])
    const { aliasOf, routes = [] } = models.get(id) ?? {}
    const parts = aliasOf === undefined ? routes.flatMap(partsOf) : partsIn(aliasOf, allBut(id))
    const filled = parts.map((part) => fillWildcard(id, part))
    // Another entry may have some of them.
    const own = [...new Set(filled)].filter((name) => entries.find(name)?.entry === id).sort()
    known.set(id, own)
    return own
  }

  function partsOf({ id }: { readonly id: string }): readonly string[] {
    const { pricingProviderId, model = '' } = bound(id)?.pricing ?? {}
    return pricingProviderId === undefined ? [] : partsIn(model, priced(pricingProviderId))
  }

  const allBut = (id: string) =>
    [...models.keys()].flatMap((each) =>
      isWildcard(each) ? (each === id ? [] : namesOf(each)) : [each],
    )

  return namesOf
}

/** What the `*` of a pattern stands for in each of the names that it covers. */
function partsIn(pattern: string, names: readonly string[]): readonly string[] {
  if (!isWildcard(pattern)) return []
  const list = createNameList([pattern])
  return names.flatMap((name) => list.find(name)?.part ?? [])
}
