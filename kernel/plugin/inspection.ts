import type { GatewayError } from './errors.ts'
import type { GuardPhase } from './guardrail.ts'
import type { Principal } from './identity.ts'
import type { JsonValue } from './json.ts'
import type { Middleware, Seam } from './middleware.ts'
import type { CapabilityName } from './plugin.ts'
import type { RouteSpec } from './route.ts'

/** Shows what is loaded and how requests would be routed. Call it after set-up. */
export interface Inspection {
  /** In set-up order. */
  plugins(): readonly StartedPlugin[]
  leftOut(): readonly LeftOutPlugin[]
  /** Ids of the surfaces, in the order of the plugins. */
  surfaces(): readonly string[]
  /** The middlewares of each seam, by surface, outermost first. */
  chains(): Readonly<Record<Seam, ReadonlyMap<string, readonly ChainedMiddleware[]>>>
  /**
   * Plans a request as it would be served, without calling a provider. Rejects with GatewayError
   * for an unreadable body, and with ConfigError if a provider cannot be created or a route cannot
   * be bound.
   */
  plan(request: PlanRequest): Promise<RequestPlan>
}

/** A started plugin, as shown to operators. */
export interface StartedPlugin {
  readonly id: string
  readonly version: string
  readonly summary: string
  /** Its `use` entry: `builtin:NAME`, a path, `npm:…`. */
  readonly use: string
  /** Names of the extension points that it provides implementations for. */
  readonly provides: readonly string[]
  /** Its capabilities. */
  readonly needs: readonly CapabilityName[]
  /** It runs in a separate thread. */
  readonly isolation: 'worker' | undefined
}

/** A plugin that failed to start and is optional (`on_boot_failure: disable`). */
export interface LeftOutPlugin {
  readonly id: string
  readonly version: string
  readonly use: string
  readonly reason: string
}

/** A middleware with its plugin. */
export interface ChainedMiddleware {
  readonly plugin: string
  readonly middleware: Middleware
}

export interface PlanRequest {
  readonly principal: Principal
  readonly surface: string
  /** Absent: the model in the body. */
  readonly model: string | undefined
  /** Absent: any request that needs only the surface. */
  readonly body: JsonValue | undefined
}

export interface RequestPlan {
  /** The requested model, alias or tag selector. */
  readonly selector: string
  readonly needed: readonly string[]
  /** Models that match the selector, in the order in which they are tried. */
  readonly models: readonly PlannedModel[]
  /** The id of the route that would be used, or why none is. */
  readonly outcome: { readonly route: string } | { readonly error: GatewayError }
}

export interface PlannedModel {
  readonly id: string
  /** The executing model: itself, or the end of its alias chain. */
  readonly executionModel: string
  /** Why the caller may not use it; absent: the caller may. */
  readonly refused: string | undefined
  /** Routes of the executing model, in config order. */
  readonly routes: readonly PlannedRoute[]
}

export interface PlannedRoute {
  readonly spec: RouteSpec
  /** Why it is not used; absent: it may be. */
  readonly fault: RouteFault | undefined
  /** Its share of such requests, from 0 to 1. */
  readonly share: number
  /** The guardrails of its calls, if any. */
  readonly guard: { readonly scope: string; readonly phases: readonly GuardPhase[] } | undefined
}

/** Why a route is not used for a request. */
export type RouteFault =
  | { readonly reason: 'disabled' | 'no_weight' }
  | { readonly reason: 'lacks'; readonly flags: readonly string[] }
  /** The request cannot be expressed for it. */
  | { readonly reason: 'refuses'; readonly error: GatewayError }
  /** A route with this lower priority number is used first. */
  | { readonly reason: 'behind'; readonly priority: number }
