import type { Affinity, JsonValue, TiedCall } from '../plugin/index.ts'
import { type Exchange, type LifecycleServices, type Planned, Refusal } from './exchange.ts'

type Services = Pick<LifecycleServices, 'affinity'>

/**
 * Moves the request to the route of its conversation, if its model has several routes. Throws
 * Refusal if none of the routes can serve it any more.
 */
export function hold(planned: Planned, { affinity }: Services): Planned | Promise<Planned> {
  const call = affinity && tiedCall(planned)
  return call === undefined ? planned : chosen(planned, call, affinity as Affinity)
}

async function chosen(planned: Planned, call: TiedCall, affinity: Affinity): Promise<Planned> {
  const candidates = planned.candidates()
  try {
    const specs = candidates.map(({ spec }) => spec)
    const own = specs.indexOf((await affinity.choose(call, specs)) ?? planned.route.spec)
    return planned.on(candidates[own] ?? planned.route)
  } catch (error) {
    throw new Refusal(error, planned)
  }
}

/** Reports the route of a successful call. `said`: the reply, or the events that close a stream. */
export function noteRoute(
  exchange: Exchange,
  said: () => readonly (JsonValue | undefined)[],
  { affinity }: Services,
): void {
  if (affinity === undefined || !('route' in exchange)) return
  const call = tiedCall(exchange)
  if (call === undefined) return
  const { stateIn } = exchange.way.dialect
  const state = stateIn === undefined ? [] : said().flatMap((part) => stateIn(part))
  affinity.note(call, exchange.route.spec, state)
}

function tiedCall({ surface, json, executionModel, principal }: Planned): TiedCall | undefined {
  const ties = executionModel.routes.length > 1 ? surface.ties?.(json) : undefined
  return (
    ties && {
      ties,
      ownershipScopeKey: principal.ownershipScopeKey,
      model: executionModel.id,
    }
  )
}
