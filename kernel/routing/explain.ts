import { GatewayError, guardPhases, type PlannedRoute, type RequestPlan } from '../plugin/index.ts'
import { accessFault } from './access.ts'
import type { GatewayModel, ModelCatalog, Route } from './catalog.ts'
import { type Refusal, routeFault } from './plan.ts'
import { candidatesOf, type RouteRequest, resolveRoute } from './resolve.ts'

/** How a request would be routed, and why. */
export function explainPlan(catalog: ModelCatalog, request: RouteRequest): RequestPlan {
  const { selector, principal, needed, refusal } = request
  const models = candidatesOf(catalog, selector).map((model) => {
    const execution = catalog.find(model.executionModel) ?? model
    return {
      id: model.id,
      executionModel: execution.id,
      refused: accessFault(principal, model),
      routes: explainRoutes(execution, needed, refusal),
    }
  })
  return { selector, needed, models, outcome: outcomeOf(catalog, request) }
}

function outcomeOf(catalog: ModelCatalog, request: RouteRequest): RequestPlan['outcome'] {
  try {
    return { route: resolveRoute(catalog, request, () => 0).route.spec.id }
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    throw error
  }
}

/** Why each route of the executing model is used or not, in config order. */
export function explainRoutes(
  model: GatewayModel,
  needed: readonly string[],
  refusal?: Refusal,
): readonly PlannedRoute[] {
  const faults = model.routes.map((route) => routeFault(route, needed, refusal))
  const viable = model.routes.filter((_, index) => faults[index] === undefined)
  const priority = Math.min(...viable.map(({ spec }) => spec.priority))
  const drawn = viable.filter(({ spec }) => spec.priority === priority)
  const weights = drawn.reduce((sum, { spec }) => sum + spec.weight, 0)
  return model.routes.map((route, index) => {
    const { spec } = route
    const isDrawn = drawn.includes(route)
    const fault = faults[index] ?? (isDrawn ? undefined : { reason: 'behind', priority })
    return { spec, fault, share: isDrawn ? spec.weight / weights : 0, guard: guardOf(route) }
  })
}

function guardOf({ guard }: Route): PlannedRoute['guard'] {
  return guard && { scope: guard.scope, phases: guardPhases.filter((phase) => guard.covers(phase)) }
}
