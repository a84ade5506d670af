import {
  type BoundRouteFacts,
  type ConfigLease,
  type ConfigSnapshot,
  createNameList,
  isWildcard,
  type NameList,
} from 'model-gateway/host'
import type { Principal } from 'model-gateway/identity'
import { listedNames } from '../_shared/listed-names.ts'

/** A config, with the state of its routes. */
export interface ServedConfig {
  readonly models: ConfigSnapshot['models']
  readonly routes: ReadonlyMap<string, BoundRouteFacts>
}

/** The names that the ids of a config match. */
export interface ServedNames {
  readonly entries: NameList
  /** The names of a wildcard, as far as they can be listed. */
  listed(wildcard: string): readonly string[]
}

const DAY_MS = 86_400_000

/** Caches the names of a config, because the price list changes at most daily. */
export function createNames(
  priced: (pricingProviderId: string, at: Date) => readonly string[],
): (served: ServedConfig, at: Date) => ServedNames {
  let kept: (ServedNames & { readonly of: ServedConfig; readonly day: number }) | undefined
  return (served, at) => {
    const day = Math.floor(at.getTime() / DAY_MS)
    if (kept?.of === served && kept.day === day) return kept
    const { models, routes } = served
    const listed = listedNames({
      models,
      bound: (id) => routes.get(id),
      priced: (pricingProviderId) => priced(pricingProviderId, at),
    })
    kept = { of: served, day, entries: createNameList(models.keys()), listed }
    return kept
  }
}

/** The models that a caller has access to. */
export interface CallersModels {
  /** The names that can be listed, sorted. */
  readonly ids: readonly string[]
  /** Whether a name is one of them, or a wildcard matches it. */
  has(name: string): boolean
}

/**
 * Names without wildcards from the config, and for wildcards the matching names in the price list
 * or in a grant. Other matching names can be requested but not listed.
 */
export function callersModels(
  { entries, listed }: ServedNames,
  lease: Pick<ConfigLease, 'modelsOf'>,
  principal: Principal,
): CallersModels {
  const written = lease.modelsOf(principal).filter((id) => !isWildcard(id))
  const { grants, allowlists } = principal
  const lists = grants === 'all' ? allowlists : [grants, ...allowlists]
  // A wildcard's allowlist applies to all of its names; grants may name some of them.
  const open = lease.modelsOf({ ...principal, grants: 'all', allowlists: [] }).filter(isWildcard)
  if (open.length === 0) return { ids: written, has: (name) => written.includes(name) }
  const mayUse = new Set(open)
  const isMade = (name: string) => {
    const { entry = '', part } = entries.find(name) ?? {}
    return part !== undefined && !isWildcard(name) && mayUse.has(entry)
  }
  const isGranted = (name: string) => lists.every((list) => list.has(name))
  const spelt = lists.flatMap((list) => [...list]).filter(isMade)
  const made = [...open.flatMap(listed), ...spelt].filter(isGranted)
  return {
    ids: [...new Set([...written, ...made])].sort(),
    has: (name) => written.includes(name) || (isMade(name) && isGranted(name)),
  }
}
