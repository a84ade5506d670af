import { createNameList, fillWildcard, isWildcard } from 'model-gateway/host'

/** What tells the routes of a config apart. */
export interface RouteNames {
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
}

/** The key of a route, as `model_routes` and the scopes of policies have it. */
export function routeKey({ model, provider, upstreamModel }: RouteNames): string {
  return `${model}/${provider}/${upstreamModel}`
}

/** The routes of a config, and those that its wildcards make. */
export interface RouteKeys {
  readonly written: ReadonlySet<string>
  /** Whether a key is that of a route which a wildcard makes for the whole name of a model. */
  isMade(key: string): boolean
  /** The key of the wildcard route that this route is made from, or the key as written. */
  origin(made: RouteNames): string | undefined
}

export function routeKeys(models: Iterable<string>, routes: readonly RouteNames[]): RouteKeys {
  const names = createNameList(models)
  const wildcards = Map.groupBy(
    routes.filter(({ model }) => isWildcard(model)),
    ({ model }) => model,
  )
  function origin({ model, provider, upstreamModel }: RouteNames): string | undefined {
    const { entry = '', part } = names.find(model) ?? {}
    if (part === undefined) return undefined
    const from = wildcards
      .get(entry)
      ?.find(
        (route) =>
          route.provider === provider && fillWildcard(route.upstreamModel, part) === upstreamModel,
      )
    return from && routeKey(from)
  }
  return {
    written: new Set(routes.map(routeKey)),
    origin,
    isMade: (key) =>
      // Names hold slashes, so that a key is compared and never split.
      [...wildcards.values()].flat().some((route) => {
        const made = madeRoute(route, key)
        return made !== undefined && origin(made) === routeKey(route)
      }),
  }
}

/** The route of a wildcard whose key this is. */
function madeRoute(route: RouteNames, key: string): RouteNames | undefined {
  const times = isWildcard(route.upstreamModel) ? 2 : 1
  const [before = ''] = route.model.split('*')
  const length = (key.length - (routeKey(route).length - times)) / times
  const part = key.slice(before.length, before.length + length)
  if (length < 1 || isWildcard(part)) return undefined
  const made = {
    provider: route.provider,
    model: fillWildcard(route.model, part),
    upstreamModel: fillWildcard(route.upstreamModel, part),
  }
  return routeKey(made) === key ? made : undefined
}
