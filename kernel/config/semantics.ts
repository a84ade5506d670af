import ipaddr from 'ipaddr.js'
import type { ConfigPath, Problem, Secret } from '../plugin/index.ts'
import { foldKey } from '../wire/key-case.ts'
import { didYouMean } from '../wire/suggest.ts'
import { fieldOf, isFields } from './fields.ts'
import { routeId } from './route-id.ts'
import type { ProviderTypes, RootEntry } from './schema.ts'

/** Data after wrongly typed parts were cut out: any field may be missing. */
export type Pruned<T> = T extends Secret
  ? T
  : T extends readonly (infer E)[]
    ? readonly Pruned<E>[]
    : T extends object
      ? { readonly [K in keyof T]?: Pruned<T[K]> }
      : T

/** The ids in a list, as far as they can be told. */
export interface DeclaredIds {
  readonly ids: ReadonlySet<string>
  /** Entries that may have any id. */
  readonly unidentified: number
}

/** Reads the ids from the list as written, so that entries with mistakes count too. */
export function declaredIds(list: unknown, known: readonly string[]): DeclaredIds {
  const ids = new Set<string>()
  if (list === undefined) return { ids, unidentified: 0 }
  if (!Array.isArray(list)) return { ids, unidentified: Number.POSITIVE_INFINITY }
  let unidentified = 0
  for (const entry of list) {
    const id = isFields(entry) ? fieldOf(entry, 'id', known) : entry
    if (typeof id === 'string' || typeof id === 'number' || typeof id === 'boolean') {
      ids.add(String(id))
    } else unidentified++
  }
  return { ids, unidentified }
}

interface Reference {
  readonly name: string
  readonly path: ConfigPath
}

/** References to nothing. None is reported while entries without an id could account for them all. */
function* checkReferences(
  references: readonly Reference[],
  declared: DeclaredIds,
  what: string,
): Iterable<Problem> {
  const unknown = references.filter(({ name }) => !declared.ids.has(name))
  if (new Set(unknown.map(({ name }) => name)).size <= declared.unidentified) return
  for (const { name, path } of unknown) {
    const hint = didYouMean(name, declared.ids, `${what}s`)
    yield { path, message: `there is no ${what} "${name}"`, hint }
  }
}

/** Headers that belong to a connection or that the gateway sets itself. */
const reservedHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function* checkHeaderNames(
  headers: Readonly<Record<string, unknown>> | undefined,
  path: ConfigPath,
): Iterable<Problem> {
  for (const name of Object.keys(headers ?? {})) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      yield { path: [...path, name], message: 'is no valid header name' }
    } else if (reservedHeaders.has(name.toLowerCase())) {
      const hint = 'it belongs to the connection, which the gateway manages'
      yield { path: [...path, name], message: 'is a header that cannot be set', hint }
    }
  }
}

const MEMBERS_OF_THE_GATEWAY = ['model', 'stream']

/** Members that would undo what the call was priced and is read by. */
function* checkExtraBody(
  extraBody: Readonly<Record<string, unknown>> | undefined,
  path: ConfigPath,
): Iterable<Problem> {
  for (const name of Object.keys(extraBody ?? {})) {
    if (!MEMBERS_OF_THE_GATEWAY.includes(foldKey(name))) continue
    const hint =
      foldKey(name) === 'model'
        ? 'name the model in upstream_model, by which calls are priced'
        : 'leave it out: callers choose whether a call is streamed'
    yield { path: [...path, name], message: 'is a member that the gateway sets itself', hint }
  }
}

function* checkUniqueIds(
  entries: readonly { readonly id?: string }[],
  section: string,
): Iterable<Problem> {
  const seen = new Set<string>()
  for (const [index, { id }] of entries.entries()) {
    if (id === undefined) continue
    if (seen.has(id)) {
      yield { path: [section, index, 'id'], message: `another entry has the id "${id}" too` }
    }
    seen.add(id)
  }
}

/** What the patterns of section `server` let pass and nothing can connect to. */
export function* checkServerUrls({ server }: Pruned<RootEntry>): Iterable<Problem> {
  const { public_base_url, egress_proxy, otel_endpoint, otel_metrics_endpoint } = server ?? {}
  const urls = { public_base_url, egress_proxy, otel_endpoint, otel_metrics_endpoint }
  for (const [key, url] of Object.entries(urls)) {
    if (url === undefined || URL.canParse(url)) continue
    const hint = 'write http://host or https://host:port, with a port up to 65535'
    yield { path: ['server', key], message: 'is no valid URL', hint }
  }
}

/** What the schema of section `server` lets pass and is not an address. */
export function* checkTrustedProxies({ server }: Pruned<RootEntry>): Iterable<Problem> {
  for (const [index, range] of (server?.trusted_proxies ?? []).entries()) {
    if (range === undefined || ipaddr.isValidCIDR(range) || ipaddr.isValid(range)) continue
    const hint = 'write an address or a range such as 10.0.0.0/8'
    yield {
      path: ['server', 'trusted_proxies', index],
      message: 'is neither an address nor a range of addresses',
      hint,
    }
  }
}

export function* checkProviders(
  root: Pruned<RootEntry>,
  types: ProviderTypes,
  complete: boolean,
): Iterable<Problem> {
  const providers = root.providers ?? []
  yield* checkUniqueIds(providers, 'providers')
  for (const [index, { type, default_headers }] of providers.entries()) {
    if (complete && type !== undefined && types.find(type) === undefined) {
      yield {
        path: ['providers', index, 'type'],
        message: `there is no provider type "${type}"`,
        hint: didYouMean(type, types.names, 'provider types'),
      }
    }
    yield* checkHeaderNames(default_headers, ['providers', index, 'default_headers'])
  }
}

function* checkAliasCycles(models: NonNullable<Pruned<RootEntry>['models']>): Iterable<Problem> {
  const targets = new Map<string, string>()
  for (const { id, alias_of } of models) {
    if (id !== undefined && alias_of !== undefined) targets.set(id, alias_of)
  }
  const done = new Set<string>()
  for (const [index, { id }] of models.entries()) {
    const chain: string[] = []
    let next = id
    while (next !== undefined && !done.has(next) && !chain.includes(next)) {
      chain.push(next)
      next = targets.get(next)
    }
    if (next !== undefined && next === id && chain.includes(next)) {
      const cycle = [...chain, next].map((name) => `"${name}"`).join(' → ')
      yield { path: ['models', index, 'alias_of'], message: `aliases run in a circle: ${cycle}` }
      for (const name of chain) done.add(name)
    }
  }
}

export interface DeclaredEntries {
  readonly providers: DeclaredIds
  readonly models: DeclaredIds
}

export function* checkModels(
  root: Pruned<RootEntry>,
  declared: DeclaredEntries,
  /** What the file has in a field of a model, right or wrong. */
  written: (index: number, field: 'routes' | 'alias_of' | 'allowlist') => unknown,
): Iterable<Problem> {
  const models = root.models ?? []
  const toProviders: Reference[] = []
  const toModels: Reference[] = []
  const routeIds = new Set<string>()
  yield* checkUniqueIds(models, 'models')
  for (const [index, model] of models.entries()) {
    const path = ['models', index]
    if (model.id?.startsWith('tag:')) {
      const hint = 'tag:NAME selects models by their tags'
      yield { path: [...path, 'id'], message: 'must not start with tag:', hint }
    }
    const routes = written(index, 'routes')
    const hasRoutes = routes !== undefined
    if (hasRoutes === (written(index, 'alias_of') !== undefined)) {
      const message = hasRoutes ? 'has both routes and alias_of' : 'has neither routes nor alias_of'
      yield { path, message, hint: 'a model has either routes or alias_of' }
    } else if (Array.isArray(routes) && routes.length === 0) {
      const message = 'is empty: every call of this model would be refused'
      const hint = 'add a route; to close a model for now, write enabled: false on its routes'
      yield { path: [...path, 'routes'], message, hint }
    }
    if (listsNoOne(written(index, 'allowlist'))) {
      const message = 'lists no one: every call of this model would be refused'
      const hint =
        'list users or teams; without an allowlist any key that grants the model may use it'
      yield { path: [...path, 'allowlist'], message, hint }
    }
    if (model.alias_of !== undefined) {
      toModels.push({ name: model.alias_of, path: [...path, 'alias_of'] })
    }
    for (const [at, route] of (model.routes ?? []).entries()) {
      const routePath = [...path, 'routes', at]
      yield* checkHeaderNames(route.extra_headers, [...routePath, 'extra_headers'])
      yield* checkExtraBody(route.extra_body, [...routePath, 'extra_body'])
      if (route.provider === undefined) continue
      toProviders.push({ name: route.provider, path: [...routePath, 'provider'] })
      if (model.id === undefined || route.upstream_model === undefined) continue
      const id = routeId(model.id, route.provider, route.upstream_model)
      if (routeIds.has(id)) {
        const hint = 'provider and upstream_model together tell the routes of a model apart'
        yield { path: routePath, message: `another route is ${id} too`, hint }
      }
      routeIds.add(id)
    }
  }
  yield* checkReferences(toProviders, declared.providers, 'provider')
  yield* checkReferences(toModels, declared.models, 'model')
  yield* checkAliasCycles(models)
}

function listsNoOne(allowlist: unknown): boolean {
  if (typeof allowlist !== 'object' || allowlist === null) return false
  return Object.values(allowlist).every((list) => Array.isArray(list) && list.length === 0)
}

export interface Address {
  readonly hostname: string
  readonly port: number
}

/** `host:port` or `[ipv6]:port`. */
export function parseBind(text: string): Address | undefined {
  const [, v6, host, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? []
  const hostname = v6 ?? host
  const port = Number(digits)
  // An address of digits and dots, or in brackets, has to be one.
  const exists = hostname !== undefined && URL.canParse(`http://${text}`)
  return exists ? { hostname, port } : undefined
}
