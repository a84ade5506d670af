import type { BoundRoute, GuardPolicy, ModelSpec, RouteFlags, RouteSpec } from '../plugin/index.ts'
import type { Way } from './ways.ts'

/** A route with what makes it executable. */
export interface Route {
  readonly spec: RouteSpec
  readonly bound: BoundRoute
  /** The configured flags, less what the bound route cannot do. */
  readonly capabilities: RouteFlags
  /** How it serves calls, by the dialect of their callers. */
  readonly ways: ReadonlyMap<string, Way>
  /** What guards its calls; absent: nothing does. */
  readonly guard?: GuardPolicy | undefined
}

export interface GatewayModel {
  readonly id: string
  readonly tags: ReadonlySet<string>
  readonly rank: number
  /** Who may use it beside having a grant; undefined: everybody. */
  readonly allowlist:
    | { readonly users: ReadonlySet<string>; readonly teams: ReadonlySet<string> }
    | undefined
  /** The model that executes: itself, or the end of its alias chain. */
  readonly executionModel: string
  readonly routes: readonly Route[]
}

export interface ModelCatalog {
  readonly models: ReadonlyMap<string, GatewayModel>
  /** By rank, then id: the order in which tag selectors try them. */
  readonly ranked: readonly GatewayModel[]
}

/** The end of an alias chain. The config loader has made sure that it exists and is no cycle. */
function executionModel(id: string, specs: ReadonlyMap<string, ModelSpec>): string {
  const target = specs.get(id)?.aliasOf
  return target === undefined ? id : executionModel(target, specs)
}

export function createCatalog(
  specs: ReadonlyMap<string, ModelSpec>,
  bind: (route: RouteSpec) => Route,
): ModelCatalog {
  const models = new Map<string, GatewayModel>()
  for (const spec of specs.values()) {
    models.set(spec.id, {
      id: spec.id,
      tags: new Set(spec.tags),
      rank: spec.rank,
      allowlist: spec.allowlist && {
        users: new Set(spec.allowlist.users.map((email) => email.toLowerCase())),
        teams: new Set(spec.allowlist.teams),
      },
      executionModel: executionModel(spec.id, specs),
      routes: spec.routes.map(bind),
    })
  }
  const ranked = [...models.values()].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
  return { models, ranked }
}
