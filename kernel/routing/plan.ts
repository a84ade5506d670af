import { GatewayError, type RouteFault } from '../plugin/index.ts'
import type { GatewayModel, Route } from './catalog.ts'

/** A source of numbers in [0, 1). */
export type Random = () => number

/** The enabled routes, lowest priority number first, weighted at random within one priority. */
function order(routes: readonly Route[], random: Random): readonly Route[] {
  const viable = routes.filter((route) => outOfService(route) === undefined)
  if (viable.length < 2) return viable
  // An exponential race: the smallest of Exp(weight) draws wins with probability weight ÷ Σ
  // weights, also among any subset that passes the capability filter.
  const draws = new Map(viable.map((r) => [r, -Math.log(1 - random()) / r.spec.weight]))
  return viable.sort(
    (a, b) =>
      a.spec.priority - b.spec.priority || (draws.get(a) as number) - (draws.get(b) as number),
  )
}

const DISABLED: RouteFault = { reason: 'disabled' }
const NO_WEIGHT: RouteFault = { reason: 'no_weight' }

/** Why a route takes no request at all; undefined if it does. */
function outOfService({ spec }: Route): RouteFault | undefined {
  if (!spec.enabled) return DISABLED
  return spec.weight > 0 ? undefined : NO_WEIGHT
}

/** Why a route cannot take a request despite its capabilities; undefined if it can. */
export type Refusal = (route: Route) => GatewayError | undefined

/** Why an enabled route cannot take a request; undefined if it can. */
function unfit(
  route: Route,
  needed: readonly string[],
  refusal: Refusal | undefined,
): RouteFault | undefined {
  const flags = needed.filter((flag) => !route.capabilities[flag])
  if (flags.length > 0) return { reason: 'lacks', flags }
  const error = refusal?.(route)
  return error && { reason: 'refuses', error }
}

/** Why a route is not used for a request; undefined if it may be. */
export function routeFault(
  route: Route,
  needed: readonly string[],
  refusal?: Refusal,
): RouteFault | undefined {
  return outOfService(route) ?? unfit(route, needed, refusal)
}

function withHints(flags: readonly string[], { bound }: Route): string {
  const hints = flags.flatMap((flag) => bound.instead?.[flag] ?? [])
  return [flags.join(', '), ...hints].join('; ')
}

/** The route that serves a request. */
export interface Plan {
  readonly route: Route
  /** Other routes that could serve it, in draw order. */
  others(): readonly Route[]
}

/**
 * The route that serves a request on an executing model. Throws `no_routes_available` if no route
 * is enabled, `invalid_request` if no enabled route has the needed capabilities, and otherwise the
 * first refusal if all capable routes refuse.
 */
export function planRoute(
  model: GatewayModel,
  needed: readonly string[],
  random: Random,
  refusal?: Refusal,
): Plan {
  let lacking: string | undefined
  let refused: GatewayError | undefined
  const ordered = order(model.routes, random)
  const isFit = (route: Route) => unfit(route, needed, refusal) === undefined
  for (const route of ordered) {
    const fault = unfit(route, needed, refusal)
    if (fault === undefined) {
      const others = () => ordered.slice(ordered.indexOf(route) + 1).filter(isFit)
      return { route, others }
    }
    if (fault.reason === 'lacks') lacking ??= withHints(fault.flags, route)
    if (fault.reason === 'refuses') refused ??= fault.error
  }
  if (refused !== undefined) throw refused
  if (lacking !== undefined) {
    throw new GatewayError(
      'invalid_request',
      `model '${model.id}' has no route that supports: ${lacking}`,
    )
  }
  throw new GatewayError(
    'no_routes_available',
    `model '${model.id}' has no enabled route: each one is disabled or has a weight of 0 or less`,
  )
}
