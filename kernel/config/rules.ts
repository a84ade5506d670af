import {
  type ConfigPath,
  createNameList,
  fillWildcard,
  isWildcard,
  type Problem,
  routeId,
  type Secret,
} from '../plugin/index.ts'
import { foldKey } from '../wire/key-case.ts'
import { closest, didYouMean } from '../wire/suggest.ts'
import { type Fields, fieldOf, isFields } from './fields.ts'
import type { ModelEntry } from './model-section.ts'

/*
 * Rules that a schema cannot express, for `withRule`. The paths of their problems are relative to
 * the value.
 */

/** Data after wrongly typed parts were removed: any field may be missing. */
export type Pruned<T> = T extends Secret
  ? T
  : T extends readonly (infer E)[]
    ? readonly Pruned<E>[]
    : T extends object
      ? { readonly [K in keyof T]?: Pruned<T[K]> }
      : T

/** The ids in a list. */
export interface DeclaredIds {
  readonly ids: ReadonlySet<string>
  /** Number of entries whose id cannot be read. */
  readonly unidentified: number
}

/** Reads the ids from the list as written, so that entries with errors count too. */
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
  readonly name: string | undefined
  readonly path: ConfigPath
}

/** Reports unknown ids, unless entries with unreadable ids could be the missing ones. */
function* checkReferences(
  references: readonly Reference[],
  declared: DeclaredIds,
  what: string,
): Iterable<Problem> {
  const names = createNameList(declared.ids)
  const unknown = references.flatMap(({ name, path }) =>
    name === undefined || names.find(name) !== undefined ? [] : [{ name, path }],
  )
  if (new Set(unknown.map(({ name }) => name)).size <= declared.unidentified) return
  for (const { name, path } of unknown) {
    const hint = didYouMean(name, declared.ids, `${what}s`)
    yield { path, message: `${what} "${name}" does not exist`, hint }
  }
}

/** Headers that belong to the connection or that the gateway sets. */
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

export function* headerNames(headers: Fields): Iterable<Problem> {
  for (const name of Object.keys(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      yield { path: [name], message: 'is not a valid header name' }
    } else if (reservedHeaders.has(name.toLowerCase())) {
      const hint = 'remove it: the gateway sets the headers of the connection'
      yield { path: [name], message: 'is a header that cannot be set', hint }
    }
  }
}

const MEMBERS_OF_THE_GATEWAY = ['model', 'stream']

/** Members that would change the model or the streaming of a call. */
export function* extraMembers(extraBody: Fields): Iterable<Problem> {
  for (const name of Object.keys(extraBody)) {
    if (!MEMBERS_OF_THE_GATEWAY.includes(foldKey(name))) continue
    const hint =
      foldKey(name) === 'model'
        ? 'write the model in upstream_model, which also sets the price'
        : 'remove it: callers choose whether a call is streamed'
    yield { path: [name], message: 'is a member that the gateway sets itself', hint }
  }
}

/** Members that every call needs. */
export function* droppedMembers(names: readonly unknown[]): Iterable<Problem> {
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string' || !MEMBERS_OF_THE_GATEWAY.includes(foldKey(name))) continue
    yield { path: [index], message: `${name} cannot be dropped, because every call needs it` }
  }
}

/** Checks flags of a route that no loaded plugin defines. */
export function flagRules(known: readonly string[]) {
  return function* (flags: Fields): Iterable<Problem> {
    for (const [name, value] of Object.entries(flags)) {
      if (known.includes(name)) continue
      const path = [name]
      if (closest(name, known) !== undefined) {
        const hint = didYouMean(name, known, 'known keys')
        yield { path, message: 'is an unknown key', hint }
      } else if (typeof value !== 'boolean') {
        yield { path, message: 'must be true or false' }
      } else {
        const message = 'no loaded plugin serves calls of this kind'
        yield { path, message, hint: `known keys: ${known.join(', ')}`, severity: 'warning' }
      }
    }
  }
}

export function* uniqueIds(entries: readonly { readonly id?: string }[]): Iterable<Problem> {
  const seen = new Set<string>()
  for (const [index, { id }] of entries.entries()) {
    if (id === undefined) continue
    if (seen.has(id)) {
      yield { path: [index, 'id'], message: `another entry has the same id "${id}"` }
    }
    seen.add(id)
  }
}

/** Checks one model; `written` also has the parts that were removed. */
export function* modelRules(
  { id, routes = [] }: Pruned<ModelEntry>,
  written: unknown,
  modelKeys: readonly string[],
): Iterable<Problem> {
  if (id?.startsWith('tag:')) {
    const hint = 'tag:NAME selects models by their tags'
    yield { path: ['id'], message: 'must not start with tag:', hint }
  }
  if (id !== undefined) yield* wildcardRules(id, written, modelKeys)
  const writtenRoutes = fieldOf(written, 'routes', modelKeys)
  const hasRoutes = writtenRoutes !== undefined
  if (hasRoutes === (fieldOf(written, 'alias_of', modelKeys) !== undefined)) {
    const message = hasRoutes ? 'has both routes and alias_of' : 'has neither routes nor alias_of'
    yield { path: [], message, hint: 'a model needs either routes or alias_of' }
  } else if (Array.isArray(writtenRoutes) && writtenRoutes.length === 0) {
    const message = 'is empty, so every call of this model would be refused'
    const hint = 'add a route; to disable a model, set enabled: false on its routes'
    yield { path: ['routes'], message, hint }
  }
  const allowlist = fieldOf(written, 'allowlist', modelKeys)
  const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0
  if (isFields(allowlist) && Object.values(allowlist).every(isEmpty)) {
    const message = 'is empty, so every call of this model would be refused'
    const hint =
      'add users or teams, or remove the allowlist: then every key that grants the model may use it'
    yield { path: ['allowlist'], message, hint }
  }
  const seen = new Set<string>()
  for (const [at, { provider, upstream_model }] of routes.entries()) {
    if (id === undefined || provider === undefined || upstream_model === undefined) continue
    const route = routeId(id, provider, upstream_model)
    if (seen.has(route)) {
      const hint = 'routes of a model must differ in provider or upstream_model'
      yield { path: ['routes', at], message: `another route has the same id ${route}`, hint }
    }
    seen.add(route)
  }
}

function* wildcardRules(
  id: string,
  written: unknown,
  modelKeys: readonly string[],
): Iterable<Problem> {
  if (id.indexOf('*') !== id.lastIndexOf('*')) {
    const hint = 'one * matches any text, as in openai/*'
    yield { path: ['id'], message: 'has more than one *', hint }
  }
  if (isWildcard(id)) {
    const tags = fieldOf(written, 'tags', modelKeys)
    if (!Array.isArray(tags) || tags.length === 0) return
    const hint = 'put the tags on a model without *, such as an alias'
    yield { path: ['tags'], message: 'a model with a wildcard cannot have tags', hint }
    return
  }
  const aliasOf = fieldOf(written, 'alias_of', modelKeys)
  const routes = fieldOf(written, 'routes', modelKeys)
  const targets = [
    { path: ['alias_of'], name: aliasOf },
    ...(Array.isArray(routes) ? routes : []).map((route, at) => ({
      path: ['routes', at, 'upstream_model'],
      name: isFields(route) ? fieldOf(route, 'upstream_model', ['upstream_model']) : undefined,
    })),
  ]
  for (const { path, name } of targets) {
    if (typeof name !== 'string' || !isWildcard(name)) continue
    const hint = `add a * to the id, such as ${name}`
    yield { path, message: 'has a *, but the id has none', hint }
  }
}

/** Checks all models together. */
export function* modelListRules(
  models: readonly Pruned<ModelEntry>[],
  written: unknown,
  providers: DeclaredIds,
  modelKeys: readonly string[],
): Iterable<Problem> {
  if (Array.isArray(written) && written.length === 0) {
    const message = 'no models are configured: every call is refused'
    yield { path: [], message, severity: 'warning' }
  }
  yield* uniqueIds(models)
  const toProviders = models.flatMap(({ routes = [] }, index) =>
    routes.map(({ provider }, at) => ({ name: provider, path: [index, 'routes', at, 'provider'] })),
  )
  const toModels = models.map(({ alias_of }, index) => ({
    name: alias_of,
    path: [index, 'alias_of'],
  }))
  yield* checkReferences(toProviders, providers, 'provider')
  yield* checkReferences(toModels, declaredIds(written, modelKeys), 'model')
  yield* aliasCycles(models)
}

function* aliasCycles(models: readonly Pruned<ModelEntry>[]): Iterable<Problem> {
  const targets = new Map<string, string>()
  for (const { id, alias_of } of models) {
    if (id !== undefined && alias_of !== undefined) targets.set(id, alias_of)
  }
  const names = createNameList(models.flatMap(({ id }) => id ?? []))
  const targetOf = (name: string) => {
    const { entry = '', part } = names.find(name) ?? {}
    const target = targets.get(entry)
    return part === undefined ? target : target && fillWildcard(target, part)
  }
  const done = new Set<string>()
  for (const [index, { id }] of models.entries()) {
    const chain: string[] = []
    let next = id
    const isOpen = (name: string) => !done.has(name) && !chain.includes(name)
    // Aliases with a wildcard can lead to ever longer names.
    while (next !== undefined && isOpen(next) && chain.length <= models.length) {
      chain.push(next)
      next = targetOf(next)
    }
    const grows = chain.length > models.length
    if (next !== undefined && (grows || (next === id && chain.includes(next)))) {
      const cycle = [...chain, next].map((name) => `"${name}"`).join(' → ')
      yield { path: [index, 'alias_of'], message: `aliases form a cycle: ${cycle}` }
      for (const name of chain) done.add(name)
    }
  }
}
