import { createNameList, fillWildcard, isWildcard } from 'model-gateway/host'

/** The names that identify a route of a config. */
export interface RouteNames {
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
}

/** The key of a route, as in `model_routes` and in policy scopes. */
export function routeKey({ model, provider, upstreamModel }: RouteNames): string {
  return `${model}/${provider}/${upstreamModel}`
}

/** The routes of a config, and the routes that its wildcards match. */
export interface RouteKeys {
  readonly written: ReadonlySet<string>
  /** Whether a key is a route that a wildcard matches, with the full name of a model. */
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
      // Compare keys instead of splitting them, because names may contain slashes.
      [...wildcards.values()].flat().some((route) => {
        const made = madeRoute(route, key)
        return made !== undefined && origin(made) === routeKey(route)
      }),
  }
}

/** The wildcard route that matches this key. */
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
