import {
  type BoundRoute,
  createNameList,
  fillWildcard,
  type GuardPolicy,
  isWildcard,
  type ModelSpec,
  type RouteFlags,
  type RouteSpec,
  routeId,
} from '../plugin/index.ts'
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
  /** As the config lists them; those whose id holds a `*` stand for others. */
  readonly models: ReadonlyMap<string, GatewayModel>
  /** By rank, then id: the order in which tag selectors try them. */
  readonly ranked: readonly GatewayModel[]
  /**
   * The model of a name: the entry of that name, or one made from the wildcard that covers it. Throws
   * what `bind` throws for a name that the provider of the wildcard cannot serve.
   */
  find(name: string): GatewayModel | undefined
}

/** Models made from wildcards that are kept; others are made again when they are asked for. */
const MOST_MADE = 1_000
/** Longer names of them are none of a vendor's. */
const MAX_MADE_NAME = 400

export function createCatalog(
  specs: ReadonlyMap<string, ModelSpec>,
  bind: (route: RouteSpec) => Route,
): ModelCatalog {
  const names = createNameList(specs.keys())
  const specOf = (name: string) => {
    const { entry = '', part } = names.find(name) ?? {}
    const spec = specs.get(entry)
    return spec && (part === undefined ? spec : filled(spec, name, part))
  }
  /** The end of an alias chain. The config loader has made sure that it exists and is no cycle. */
  const executionModel = (spec: ModelSpec): string => {
    const target = spec.aliasOf === undefined ? undefined : specOf(spec.aliasOf)
    return target === undefined ? spec.id : executionModel(target)
  }
  const modelOf = (spec: ModelSpec): GatewayModel => ({
    id: spec.id,
    tags: new Set(spec.tags),
    rank: spec.rank,
    allowlist: spec.allowlist && {
      users: new Set(spec.allowlist.users.map((email) => email.toLowerCase())),
      teams: new Set(spec.allowlist.teams),
    },
    executionModel: executionModel(spec),
    routes: spec.routes.map(bind),
  })
  const models = new Map([...specs.values()].map((spec) => [spec.id, modelOf(spec)]))
  const made = new Map<string, GatewayModel>()
  const make = (name: string) => {
    const spec = name.length > MAX_MADE_NAME ? undefined : specOf(name)
    if (spec === undefined) return undefined
    const model = modelOf(spec)
    for (const oldest of made.keys()) {
      if (made.size < MOST_MADE) break
      made.delete(oldest)
    }
    made.set(name, model)
    return model
  }
  const listed = [...models.values()].filter(({ id }) => !isWildcard(id))
  return {
    models,
    ranked: listed.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1)),
    find: (name) =>
      isWildcard(name) ? undefined : (models.get(name) ?? made.get(name) ?? make(name)),
  }
}

/** A wildcard as the model of one name. */
function filled(spec: ModelSpec, id: string, part: string): ModelSpec {
  return {
    ...spec,
    id,
    aliasOf: spec.aliasOf && fillWildcard(spec.aliasOf, part),
    routes: spec.routes.map((route) => {
      const upstreamModel = fillWildcard(route.upstreamModel, part)
      return { ...route, id: routeId(id, route.provider, upstreamModel), model: id, upstreamModel }
    }),
  }
}
