import type { RouteFlag } from '../plugin/index.ts'
import type { GatewayModel, ModelCatalog, Route } from './catalog.ts'
import { missing, type Refusal } from './plan.ts'
import { selectorTags } from './resolve.ts'

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
  const { spec } = route
  if (!spec.enabled) return 'it is disabled'
  if (spec.weight <= 0) return `its weight is ${spec.weight}`
  const lacking = missing(route, needed)
  if (lacking.length > 0) return `it does not support ${lacking.join(', ')}`
  return refusal?.(route)?.message
}

/** Models that a selector may mean, in the order in which they are tried. */
export function candidatesOf(catalog: ModelCatalog, selector: string): readonly GatewayModel[] {
  const tags = selectorTags(selector)
  if (tags === undefined) {
    const model = catalog.models.get(selector)
    return model === undefined ? [] : [model]
  }
  return catalog.ranked.filter((model) => tags.every((tag) => model.tags.has(tag)))
}
