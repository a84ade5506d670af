import type { RouteSpec } from './route.ts'

/** Links a request to earlier ones. */
export interface Ties {
  /** State at an upstream that the request refers to; only its provider can serve it. */
  readonly state: readonly StateReference[]
  /** The common beginning of all requests of a conversation; undefined if unknown. */
  readonly head: string | undefined
  /** Whether it is known to be a later request of a conversation. */
  readonly continues: boolean
}

/** A member name, and its id or a text that only its provider can read. */
export interface StateReference {
  readonly member: string
  readonly id: string
}

/** A call of a model with several routes. */
export interface TiedCall {
  readonly ties: Ties
  /** The owner of the call: `ownershipScopeKey` of its principal. */
  readonly ownershipScopeKey: string
  readonly model: string
}

/** Keeps the calls of a conversation on one route. */
export interface Affinity {
  /**
   * Returns one of the candidates, which are in plan order; undefined keeps the first. Throws
   * GatewayError `invalid_request` if no candidate can serve the call. Must not wait long.
   */
  choose(
    call: TiedCall,
    candidates: readonly RouteSpec[],
  ): RouteSpec | undefined | Promise<RouteSpec | undefined>
  /** A call succeeded on this route. `state`: ids in its reply of state at the provider. */
  note(call: TiedCall, route: RouteSpec, state: readonly string[]): void
}
