import type { RouteSpec } from './route.ts'

/** What ties a request to earlier ones. */
export interface Ties {
  /** State that an upstream keeps and the request names: it has to go to the provider that made it. */
  readonly state: readonly StateReference[]
  /** What all requests of a conversation begin with; undefined where it cannot be told. */
  readonly head: string | undefined
  /** Whether it is known not to be the first of its conversation. */
  readonly continues: boolean
}

/** The name of a member, and the id in it, or a text that only its maker can read. */
export interface StateReference {
  readonly member: string
  readonly id: string
}

/** A call of a model that has several routes. */
export interface TiedCall {
  readonly ties: Ties
  /** Whose call it is: `ownershipScopeKey` of its principal. */
  readonly ownershipScopeKey: string
  readonly model: string
}

/** Keeps calls that belong together on one route. */
export interface Affinity {
  /**
   * One of the candidates, which come in the order of the plan; undefined leaves it at the first. Throws
   * GatewayError `invalid_request` for a call that none of them can take. It waits for nothing long.
   */
  choose(
    call: TiedCall,
    candidates: readonly RouteSpec[],
  ): RouteSpec | undefined | Promise<RouteSpec | undefined>
  /** A call went well on this route. `state`: ids in its reply of what the provider keeps. */
  note(call: TiedCall, route: RouteSpec, state: readonly string[]): void
}
