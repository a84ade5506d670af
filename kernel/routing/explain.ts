import type { Principal, RouteFlag } from '../plugin/index.ts'
import type { GatewayModel, ModelCatalog, Route } from './catalog.ts'
import type { Refusal } from './plan.ts'
import { TAG_PREFIX } from './resolve.ts'

/** Why a caller may not ask for a model by this name; undefined when it may. */
export function accessFault(principal: Principal, model: GatewayModel): string | undefined {
  const { grants, allowlists, owner } = principal
  if (grants !== 'all' && !grants.has(model.id)) return 'the key is not granted it'
  if (allowlists.some((allowed) => !allowed.has(model.id))) {
    return 'the allowlist of the owner or the team leaves it out'
  }
  const { allowlist } = model
  if (allowlist === undefined) return undefined
  if (owner.kind === 'service_account') return 'its allowlist is for users and teams only'
  if (allowlist.users.has(owner.email)) return undefined
  if (owner.team !== undefined && allowlist.teams.has(owner.team.key)) return undefined
  return 'its allowlist names neither the user nor the team'
}

/** What becomes of one route. */
export interface RouteFate {
  readonly route: Route
  /** Why it is not used; undefined for one that may be drawn. */
  readonly dropped: string | undefined
  /** The part of requests that it is drawn for, from 0 to 1. */
  readonly share: number
}

/** What becomes of the routes of an execution model, in the order of the config. */
export function explainRoutes(
  model: GatewayModel,
  needed: readonly RouteFlag[],
  refusal?: Refusal,
): readonly RouteFate[] {
  const faults = new Map(model.routes.map((route) => [route, routeFault(route, needed, refusal)]))
  const viable = model.routes.filter((route) => faults.get(route) === undefined)
  const first = Math.min(...viable.map(({ spec }) => spec.priority))
  const drawn = viable.filter(({ spec }) => spec.priority === first)
  const weights = drawn.reduce((sum, { spec }) => sum + spec.weight, 0)
  return model.routes.map((route) => {
    const fault = faults.get(route)
    if (fault !== undefined) return { route, dropped: fault, share: 0 }
    if (drawn.includes(route)) {
      return { route, dropped: undefined, share: route.spec.weight / weights }
    }
    const dropped = `its priority ${route.spec.priority} stands behind ${first}`
    return { route, dropped, share: 0 }
  })
}

function routeFault(route: Route, needed: readonly RouteFlag[], refusal: Refusal | undefined) {
  const { spec, capabilities } = route
  if (!spec.enabled) return 'it is disabled'
  if (spec.weight <= 0) return `its weight is ${spec.weight}`
  const missing = needed.filter((flag) => !capabilities[flag])
  if (missing.length > 0) return `it does not support ${missing.join(', ')}`
  return refusal?.(route)?.message
}

/** Models that a selector may mean, in the order in which they are tried. */
export function candidatesOf(catalog: ModelCatalog, selector: string): readonly GatewayModel[] {
  if (!selector.startsWith(TAG_PREFIX)) {
    const model = catalog.models.get(selector)
    return model === undefined ? [] : [model]
  }
  const tags = selector.slice(TAG_PREFIX.length).split(',')
  return catalog.ranked.filter((model) => tags.every((tag) => model.tags.has(tag)))
}
