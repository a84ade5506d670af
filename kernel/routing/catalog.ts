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

/** A route with its bound executor. */
export interface Route {
  readonly spec: RouteSpec
  readonly bound: BoundRoute
  /** The configured flags that the bound route supports. */
  readonly capabilities: RouteFlags
  /** How it serves calls, by the dialect of the caller. */
  readonly ways: ReadonlyMap<string, Way>
  /** The guard policy of its calls, if any. */
  readonly guard?: GuardPolicy | undefined
}

export interface GatewayModel {
  readonly id: string
  readonly tags: ReadonlySet<string>
  readonly rank: number
  /** Who may use it in addition to having a grant; undefined: all. */
  readonly allowlist:
    | { readonly users: ReadonlySet<string>; readonly teams: ReadonlySet<string> }
    | undefined
  /** The executing model: itself, or the end of its alias chain. */
  readonly executionModel: string
  readonly routes: readonly Route[]
}

export interface ModelCatalog {
  /** In config order; a model with `*` in its id matches many names. */
  readonly models: ReadonlyMap<string, GatewayModel>
  /** Sorted by rank, then id: the order in which tag selectors try them. */
  readonly ranked: readonly GatewayModel[]
  /**
   * The model for a name: the entry with that id, or one created from the wildcard that matches it.
   * Throws what `bind` throws if the provider cannot serve the name.
   */
  find(name: string): GatewayModel | undefined
}

/** Cache size for models made from wildcards; others are created again on demand. */
const MOST_MADE = 1_000
/** Longer names are refused, because no vendor has such model names. */
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
  /** The end of an alias chain. The config check ensures that it exists and has no cycle. */
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

/** The model for one name that a wildcard matches. */
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
