import { createHash } from 'node:crypto'
import { GatewayError, type JsonValue } from '../plugin/index.ts'
import type { Route } from '../routing/catalog.ts'
import { type Exchange, type LifecycleServices, type Planned, Refusal } from './exchange.ts'

/** Of the beginning of a conversation so much tells it from others. */
const HEAD_CHARS = 16_384
/** Ids of one reply that are noted. */
const MAX_NOTED = 64

/**
 * The same request on the route of its conversation, where its model has several: the one that made the
 * state that it names, or that took the turns before. Throws Refusal when that is gone.
 */
export function hold(planned: Planned, services: LifecycleServices): Planned | Promise<Planned> {
  const ties = tiesOf(planned)
  return ties === undefined ? planned : holdTied(planned, ties, services)
}

function tiesOf({ surface, json, executionModel }: Planned) {
  return executionModel.routes.length > 1 ? surface.ties?.(json) : undefined
}

async function holdTied(
  planned: Planned,
  { state, head, continues }: NonNullable<ReturnType<typeof tiesOf>>,
  { affinity }: LifecycleServices,
): Promise<Planned> {
  const candidates = planned.candidates()
  for (const { member, id } of state) {
    const provider = await affinity?.find(stateKey(id))
    if (provider === undefined) continue
    const own = candidates.find(({ spec }) => spec.provider === provider)
    if (own !== undefined) return planned.on(own)
    const message = `${member}: what it names is kept by the provider '${provider}', to which no route of model '${planned.executionModel.id}' leads any more: begin anew, without it`
    throw new Refusal(new GatewayError('invalid_request', message), planned)
  }
  if (!continues) return planned
  const key = head === undefined ? state[0] && stateKey(state[0].id) : headKey(planned, head)
  if (key === undefined) return planned
  const { priority } = planned.route.spec
  const equals = candidates.filter(({ spec }) => spec.priority === priority)
  const routeId = await affinity?.find(key)
  const own = equals.find(({ spec }) => spec.id === routeId) ?? drawn(key, equals)
  return own === undefined ? planned : planned.on(own)
}

/** One of the routes by their weights: the same one for a key wherever it is asked. */
function drawn(key: string, routes: readonly Route[]): Route | undefined {
  let best: Route | undefined
  let least = Number.POSITIVE_INFINITY
  for (const route of routes) {
    const { id, weight } = route.spec
    const uniform = (digest(`${key} ${id}`).readUInt32BE(0) + 0.5) / 2 ** 32
    const draw = -Math.log(uniform) / weight
    if (draw < least) [best, least] = [route, draw]
  }
  return best
}

/** Notes on which route a call went well: for its conversation, and for the state that it has made. */
export function noteTies(
  exchange: Exchange,
  said: Iterable<JsonValue | undefined>,
  { affinity }: LifecycleServices,
): void {
  if (affinity === undefined || !('route' in exchange)) return
  const ties = tiesOf(exchange)
  if (ties === undefined) return
  const { stateIn } = exchange.way.dialect
  const made = stateIn === undefined ? [] : [...said].flatMap((part) => stateIn(part))
  const { id, provider } = exchange.route.spec
  if (made.length > 0) affinity.note(made.slice(0, MAX_NOTED).map(stateKey), provider)
  if (ties.head !== undefined) affinity.note([headKey(exchange, ties.head)], id)
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const stateKey = (id: string) => digest(`state ${id}`).toString('base64url')

/** Of this owner and this model: equal words of others say nothing. */
function headKey({ principal, executionModel }: Planned, head: string): string {
  const text = head.slice(0, HEAD_CHARS)
  const scope = `head ${principal.ownershipScopeKey} ${executionModel.id}`
  return digest(`${scope} ${text}`).toString('base64url')
}
