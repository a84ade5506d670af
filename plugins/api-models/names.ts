import {
  type BoundRouteFacts,
  type ConfigLease,
  type ConfigSnapshot,
  createNameList,
  isWildcard,
} from 'model-gateway/host'
import type { Principal } from 'model-gateway/identity'
import { listedNames } from '../_shared/listed-names.ts'

/** A config, with what became of its routes. */
export interface ServedConfig {
  readonly models: ConfigSnapshot['models']
  readonly routes: ReadonlyMap<string, BoundRouteFacts>
}

/** The models that a caller may ask for. */
export interface CallersModels {
  /** Those that can be listed, sorted. */
  readonly ids: readonly string[]
  /** Whether a name is one of them, or a wildcard covers it. */
  has(name: string): boolean
}

/**
 * Whole names from the config, and for wildcards those that the price list knows, or a grant spells out:
 * there is no end of others, which may be asked for all the same.
 */
export function callersModels(
  { models, routes }: ServedConfig,
  lease: Pick<ConfigLease, 'modelsOf'>,
  principal: Principal,
  priced: (pricingProviderId: string) => readonly string[],
): CallersModels {
  const written = lease.modelsOf(principal).filter((id) => !isWildcard(id))
  const { grants, allowlists } = principal
  const lists = grants === 'all' ? allowlists : [grants, ...allowlists]
  // What a wildcard's own allowlist says holds for all of its names; grants may name some of these.
  const open = lease.modelsOf({ ...principal, grants: 'all', allowlists: [] }).filter(isWildcard)
  if (open.length === 0) return { ids: written, has: (name) => written.includes(name) }
  const mayUse = new Set(open)
  const names = createNameList(models.keys())
  const isMade = (name: string) => {
    const { entry = '', part } = names.find(name) ?? {}
    return part !== undefined && !isWildcard(name) && mayUse.has(entry)
  }
  const isGranted = (name: string) => lists.every((list) => list.has(name))
  const namesOf = listedNames({ models, bound: (id) => routes.get(id), priced })
  const spelt = lists.flatMap((list) => [...list]).filter(isMade)
  const made = [...open.flatMap(namesOf), ...spelt].filter(isGranted)
  return {
    ids: [...new Set([...written, ...made])].sort(),
    has: (name) => written.includes(name) || (isMade(name) && isGranted(name)),
  }
}
