import {
  type BoundRouteFacts,
  createNameList,
  fillWildcard,
  isWildcard,
  type ModelSpec,
} from 'model-gateway/host'

export interface ListedNamesOptions {
  readonly models: ReadonlyMap<string, ModelSpec>
  /** The state of a route, by id; undefined if it is not active. */
  readonly bound: (routeId: string) => BoundRouteFacts | undefined
  /** The models in a price list. */
  readonly priced: (pricingProviderId: string) => readonly string[]
}

/**
 * The model names that each wildcard of a config matches, as far as they can be listed: names in
 * the provider's price list and, for an alias, those of its target. Sorted.
 */
export function listedNames(options: ListedNamesOptions): (wildcard: string) => readonly string[] {
  const { models, bound, priced } = options
  const entries = createNameList(models.keys())
  const known = new Map<string, readonly string[]>()

  function namesOf(id: string): readonly string[] {
    const names = known.get(id)
    if (names !== undefined) return names
    // Aliases may refer to each other.
    known.set(id, [])
    const { aliasOf, routes = [] } = models.get(id) ?? {}
    const parts = aliasOf === undefined ? routes.flatMap(partsOf) : partsIn(aliasOf, allBut(id))
    const filled = parts.map((part) => fillWildcard(id, part))
    // Another entry may define some of them.
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

/** The text that the `*` of a pattern matches in each of the names. */
function partsIn(pattern: string, names: readonly string[]): readonly string[] {
  if (!isWildcard(pattern)) return []
  const list = createNameList([pattern])
  return names.flatMap((name) => list.find(name)?.part ?? [])
}
