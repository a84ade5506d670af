import { GatewayError, type RouteFlag } from '../plugin/index.ts'
import type { GatewayModel, Route } from './catalog.ts'

/** A source of numbers in [0, 1). */
export type Random = () => number

/** The routes that may be used at all, lower priority first, weighted at random within one. */
function order(routes: readonly Route[], random: Random): readonly Route[] {
  const viable = routes.filter(({ spec }) => spec.enabled && spec.weight > 0)
  if (viable.length < 2) return viable
  // An exponential race: the smallest of Exp(weight) draws wins with probability weight ÷ Σ weights,
  // also among any subset that survives the capability filter.
  const draws = new Map(viable.map((r) => [r, -Math.log(1 - random()) / r.spec.weight]))
  return viable.sort(
    (a, b) =>
      a.spec.priority - b.spec.priority || (draws.get(a) as number) - (draws.get(b) as number),
  )
}

/** Why a route cannot take a request that its capabilities allow; undefined when it can. */
export type Refusal = (route: Route) => GatewayError | undefined

/** What is needed and the route cannot do. */
export function missing(route: Route, needed: readonly RouteFlag[]): RouteFlag[] {
  return needed.filter((flag) => !route.capabilities[flag])
}

/**
 * The route that serves a request on an execution model. Throws `no_routes_available` when no route
 * is viable, `invalid_request` when none of the viable ones can do what is needed, and what the first
 * capable one is refused with when each of them is.
 */
export function planRoute(
  model: GatewayModel,
  needed: readonly RouteFlag[],
  random: Random,
  refusal?: Refusal,
): Route {
  const ordered = order(model.routes, random)
  const first = ordered[0]
  if (first === undefined) {
    throw new GatewayError(
      'no_routes_available',
      `model '${model.id}' has no route in service: each one is disabled or has no positive weight`,
    )
  }
  let refused: GatewayError | undefined
  for (const route of ordered) {
    if (missing(route, needed).length > 0) continue
    const reason = refusal?.(route)
    if (reason === undefined) return route
    refused ??= reason
  }
  if (refused !== undefined) throw refused
  throw new GatewayError(
    'invalid_request',
    `model '${model.id}' has no route that supports: ${missing(first, needed).join(', ')}`,
  )
}
