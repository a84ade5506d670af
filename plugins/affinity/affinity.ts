import { createHash } from 'node:crypto'
import { GatewayError } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import type { Affinity, TiedCall } from 'model-gateway/surface'
import type { Places } from './places.ts'

/** Characters of the beginning of a conversation that identify it. */
const HEAD_CHARS = 16_384
/** Maximum number of ids that are recorded per reply. */
const MAX_NOTED = 64

/**
 * Stored state is routed to the provider that created it, and conversations to the route that
 * answered them first, within one priority. Unknown conversations choose a route by hash. First
 * calls keep the planned route.
 */
export function createAffinity({ find, note }: Pick<Places, 'find' | 'note'>): Affinity {
  async function keeperOf({ ties, model }: TiedCall, candidates: readonly RouteSpec[]) {
    for (const { member, id } of ties.state) {
      const provider = await find(stateKey(id))
      if (provider === undefined) continue
      const own = candidates.find((route) => route.provider === provider)
      if (own !== undefined) return own
      throw new GatewayError(
        'invalid_request',
        `${member}: refers to state of the provider '${provider}', but model '${model}' no longer has a route to it: start a new conversation without it`,
      )
    }
    return undefined
  }

  async function choose(call: TiedCall, candidates: readonly RouteSpec[]) {
    const keeper = await keeperOf(call, candidates)
    if (keeper !== undefined || !call.ties.continues) return keeper
    const key = headKey(call) ?? call.ties.state.map(({ id }) => stateKey(id))[0]
    if (key === undefined) return undefined
    const equals = candidates.filter(({ priority }) => priority === candidates[0]?.priority)
    const routeId = await find(key)
    return equals.find(({ id }) => id === routeId) ?? drawn(key, equals)
  }

  return {
    choose: (call, candidates) =>
      call.ties.state.length > 0 || call.ties.continues ? choose(call, candidates) : undefined,
    note(call, { id, provider }, state) {
      if (state.length > 0) note(state.slice(0, MAX_NOTED).map(stateKey), provider)
      const key = headKey(call)
      if (key !== undefined) note([key], id)
    },
  }
}

/** Chooses a route by weight, always the same one for a key, on every replica. */
function drawn(key: string, routes: readonly RouteSpec[]): RouteSpec | undefined {
  const draw = ({ id, weight }: RouteSpec) =>
    -Math.log((digest(`${key} ${id}`).readUInt32BE(0) + 0.5) / 2 ** 32) / weight
  return routes.map((route) => ({ route, at: draw(route) })).toSorted((a, b) => a.at - b.at)[0]
    ?.route
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const stateKey = (id: string) => digest(`state ${id}`).toString('base64url')

/** Hashed with owner and model, so that equal texts of other callers do not match. */
function headKey({ ties, ownershipScopeKey, model }: TiedCall): string | undefined {
  const text = ties.head?.slice(0, HEAD_CHARS)
  return text && digest(`head ${ownershipScopeKey} ${model} ${text}`).toString('base64url')
}
