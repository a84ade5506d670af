import type { GatewayError } from './errors.ts'
import type { GuardPhase } from './guardrail.ts'
import type { Principal } from './identity.ts'
import type { JsonValue } from './json.ts'
import type { Middleware, Seam } from './middleware.ts'
import type { CapabilityName } from './plugin.ts'
import type { RouteSpec } from './route.ts'

/** What this gateway is made of, and what it would do. Call it after set-up. */
export interface Inspection {
  /** In the order of their set-up. */
  plugins(): readonly StartedPlugin[]
  leftOut(): readonly LeftOutPlugin[]
  /** Ids of the surfaces, in the order of the plugins. */
  surfaces(): readonly string[]
  /** The middlewares around each step, by surface, the outermost first. */
  chains(): Readonly<Record<Seam, ReadonlyMap<string, readonly ChainedMiddleware[]>>>
  /**
   * What would become of a request, by the code that plans those that are served; calls no provider.
   * Rejects with GatewayError for a body that cannot be read, and with ConfigError when a provider
   * cannot be created or a route not be bound.
   */
  plan(request: PlanRequest): Promise<RequestPlan>
}

/** A started plugin, as shown to operators. */
export interface StartedPlugin {
  readonly id: string
  readonly version: string
  readonly summary: string
  /** What loaded it: `builtin:NAME`, a path, `npm:…`. */
  readonly use: string
  /** Names of the extension points it provides something for, each once. */
  readonly provides: readonly string[]
  /** The capabilities that it has. */
  readonly needs: readonly CapabilityName[]
  /** It runs in a thread of its own. */
  readonly isolation: 'worker' | undefined
}

/** A plugin that failed and could be done without (`on_boot_failure: disable`). */
export interface LeftOutPlugin {
  readonly id: string
  readonly version: string
  readonly use: string
  readonly reason: string
}

/** A middleware with the plugin that brings it. */
export interface ChainedMiddleware {
  readonly plugin: string
  readonly middleware: Middleware
}

export interface PlanRequest {
  readonly principal: Principal
  readonly surface: string
  /** Absent: the one that the body names. */
  readonly model: string | undefined
  /** Absent: any body that needs nothing but the surface. */
  readonly body: JsonValue | undefined
}

export interface RequestPlan {
  /** The model, alias or tag selector that is asked for. */
  readonly selector: string
  readonly needed: readonly string[]
  /** Models that the selector may mean, in the order in which they are tried. */
  readonly models: readonly PlannedModel[]
  /** The id of a route that would be taken, or why there is none. */
  readonly outcome: { readonly route: string } | { readonly error: GatewayError }
}

export interface PlannedModel {
  readonly id: string
  /** The model that executes: itself, or the end of its alias chain. */
  readonly executionModel: string
  /** Why the caller may not ask for it; absent: the caller may. */
  readonly refused: string | undefined
  /** Those of the execution model, in the order of the config. */
  readonly routes: readonly PlannedRoute[]
}

export interface PlannedRoute {
  readonly spec: RouteSpec
  /** Why it is not taken; absent: it may be drawn. */
  readonly fault: RouteFault | undefined
  /** The part of such requests that it is drawn for, from 0 to 1. */
  readonly share: number
  /** What guards its calls; absent: nothing does. */
  readonly guard: { readonly scope: string; readonly phases: readonly GuardPhase[] } | undefined
}

/** Why a route does not take a request. */
export type RouteFault =
  | { readonly reason: 'disabled' | 'no_weight' }
  | { readonly reason: 'lacks'; readonly flags: readonly string[] }
  /** What the request asks cannot be said to it. */
  | { readonly reason: 'refuses'; readonly error: GatewayError }
  /** Another route comes first, of this priority. */
  | { readonly reason: 'behind'; readonly priority: number }
