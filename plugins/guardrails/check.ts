import type { Brought, ConfigDraft } from 'model-gateway/host'
import { type ConfigPath, isJsonObject, type JsonObject, type Problem } from 'model-gateway/plugin'
import { didYouMean } from 'model-gateway/wire'
import { declaredKinds, declaredPacks, guardrails } from './config.ts'
import type { GuardrailPackSpec, ManagedCheckSpec } from './contract.ts'
import { type RouteNames, routeKeys } from './route-keys.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** Checks that the schema cannot express: unknown names, and problems that a kind reports. */
export function* checkGuardrails(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section(guardrails.name)
  if (!isJsonObject(section)) return
  const at = (...path: readonly (string | number)[]) => [guardrails.name, ...path]
  const checks = fieldsOf(section.managed_checks)
  const { partial = false } = draft.declared
  const packs = declaredPacks(draft.declared)
  const kinds = declaredKinds(draft.declared)
  const dispensable = dispensableOf([...packs, ...kinds])
  const known = { packs: packNames(packs), partial, checks: Object.keys(checks), dispensable }

  yield* checkPolicy(section.default, at('default'), known)
  for (const [name, check] of Object.entries(checks)) {
    if (!NAME.test(name)) {
      const hint = 'use letters, digits, _ and -, beginning with a letter, at most 64 characters'
      yield { path: at('managed_checks', name), message: 'is not a valid name for a check', hint }
    }
    yield* checkCheck(check, at('managed_checks', name), kinds, partial)
    yield* checkThere(fieldsOf(check).kind, at('managed_checks', name, 'kind'), dispensable)
  }
  const routes = routeKeys(draft.modelIds, routesOf(draft))
  for (const [key, policy] of Object.entries(fieldsOf(section.model_routes))) {
    const path = at('model_routes', key)
    if (!routes.written.has(key) && !routes.isMade(key)) {
      const message = 'is not a configured route; write {model}/{provider}/{upstream_model}'
      yield { path, message, hint: didYouMean(key, routes.written, 'routes') }
    }
    yield* checkPolicy(policy, path, known)
  }
  const servers = serverKeys(draft)
  for (const [key, policy] of Object.entries(fieldsOf(section.mcp_servers))) {
    const path = at('mcp_servers', key)
    if (!servers.has(key)) {
      yield {
        path,
        message: 'is not declared under mcp.servers',
        hint: didYouMean(key, servers, 'servers'),
      }
    }
    yield* checkPolicy(policy, path, known)
  }
}

interface KnownNames {
  /** The id of each pack by each of its names. */
  readonly packs: ReadonlyMap<string, string>
  /** There may be others. */
  readonly partial: boolean
  readonly checks: readonly string[]
  /** Plugins that are disabled when they fail, by the names of their packs and kinds. */
  readonly dispensable: ReadonlyMap<string, string>
}

function* checkPolicy(policy: unknown, path: ConfigPath, known: KnownNames): Iterable<Problem> {
  if (!isJsonObject(policy)) return
  const packIds = new Set<string>()
  for (const [index, name] of stringsOf(policy.packs)) {
    yield* checkThere(name, [...path, 'packs', index], known.dispensable)
    const id = known.packs.get(name)
    if (id === undefined) {
      if (known.partial) continue
      const hint = didYouMean(name, known.packs.keys(), 'packs')
      yield { path: [...path, 'packs', index], message: `unknown pack "${name}"`, hint }
    } else if (packIds.has(id)) {
      yield { path: [...path, 'packs', index], message: `${id} is listed twice` }
    } else packIds.add(id)
  }
  const checks = new Set<string>()
  for (const [index, name] of stringsOf(policy.managed_checks)) {
    const here = [...path, 'managed_checks', index]
    if (!known.checks.includes(name)) {
      const message = `guardrails.managed_checks has no check "${name}"`
      yield { path: here, message, hint: didYouMean(name, known.checks, 'checks') }
    } else if (checks.has(name)) {
      yield { path: here, message: `${name} is listed twice` }
    } else checks.add(name)
  }
}

/**
 * A pack or kind in use must not come from a plugin that is disabled when it fails, because the
 * guardrail would silently be missing.
 */
function* checkThere(
  name: unknown,
  path: ConfigPath,
  dispensable: ReadonlyMap<string, string>,
): Iterable<Problem> {
  const plugin = typeof name === 'string' ? dispensable.get(name) : undefined
  if (plugin === undefined) return
  yield {
    path,
    message: `${String(name)} comes from plugin "${plugin}", which is disabled when it fails`,
    hint: `remove on_boot_failure: disable from the entry of "${plugin}"`,
  }
}

function* checkCheck(
  check: unknown,
  path: ConfigPath,
  declared: readonly Brought<ManagedCheckSpec>[],
  partial: boolean,
): Iterable<Problem> {
  if (!isJsonObject(check)) return
  const kinds = declared.map(({ spec }) => spec)
  const named = new Map(
    kinds.flatMap((spec) => [spec.kind, ...(spec.aliases ?? [])].map((name) => [name, spec])),
  )
  // The schema already reports a kind that is not a string.
  if (typeof check.kind !== 'string') return
  const spec = named.get(check.kind)
  if (spec === undefined) {
    if (partial) return
    const hint = didYouMean(check.kind, named.keys(), 'kinds')
    yield { path: [...path, 'kind'], message: `unknown kind "${check.kind}"`, hint }
    return
  }
  for (const { kind } of kinds) {
    const isWritten = Object.hasOwn(check, kind)
    if (kind === spec.kind && !isWritten) {
      const hint = `write the settings of the check under ${kind}`
      yield { path: [...path, kind], message: 'is required', hint }
    } else if (kind !== spec.kind && isWritten) {
      yield {
        path: [...path, kind],
        message: `belongs to another kind; this check has kind ${check.kind}`,
      }
    }
  }
  const seen = new Set<string>()
  for (const [index, phase] of stringsOf(check.phases)) {
    const here = [...path, 'phases', index]
    if (seen.has(phase)) yield { path: here, message: `${phase} is listed twice` }
    seen.add(phase)
    if (spec.phases.some((supported) => supported === phase)) continue
    yield {
      path: here,
      message: `${spec.kind} does not support the phase ${phase}`,
      hint: `it supports ${spec.phases.join(', ')}`,
    }
  }
  const own = check[spec.kind]
  for (const problem of (isJsonObject(own) && spec.check?.(own)) || []) {
    yield { ...problem, path: [...path, spec.kind, ...problem.path] }
  }
}

function packNames(packs: readonly Brought<GuardrailPackSpec>[]): ReadonlyMap<string, string> {
  return new Map(
    packs.flatMap(({ spec: { id, aliases = [] } }) =>
      [id, ...aliases].map((name) => [name, id] as const),
    ),
  )
}

/** Plugins that are disabled when they fail, by the names of their packs and kinds. */
function dispensableOf(
  brought: readonly Brought<GuardrailPackSpec | ManagedCheckSpec>[],
): ReadonlyMap<string, string> {
  return new Map(
    brought
      .filter(({ dispensable }) => dispensable)
      .flatMap(({ spec, plugin }) =>
        ['id' in spec ? spec.id : spec.kind, ...(spec.aliases ?? [])].map((name) => [name, plugin]),
      ),
  )
}

function routesOf(draft: ConfigDraft): readonly RouteNames[] {
  return listOf(draft.section('models')).flatMap(({ id: model, routes }) =>
    listOf(routes).flatMap(({ provider, upstream_model: upstreamModel }) =>
      typeof model === 'string' && typeof provider === 'string' && typeof upstreamModel === 'string'
        ? { model, provider, upstreamModel }
        : [],
    ),
  )
}

/** The section belongs to another plugin. */
function serverKeys(draft: ConfigDraft): ReadonlySet<string> {
  const keys = listOf(fieldsOf(draft.section('mcp')).servers).map(({ server_key }) => server_key)
  return new Set(keys.filter((key) => typeof key === 'string'))
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function stringsOf(value: unknown): readonly (readonly [number, string])[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item, index) => (typeof item === 'string' ? [[index, item] as const] : []))
}
