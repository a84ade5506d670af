import { createNameList, fillWildcard, isWildcard, type NameList } from 'model-gateway/host'

/** Number of cached answers per set: a key uses few models. Longer names are not cached. */
const MOST_ANSWERS = 32
const LONGEST_NAME = 200

/** Model names, of which some may contain one `*`: the set has all names that these match. */
class ModelPatterns extends Set<string> {
  readonly #patterns: NameList
  readonly #answers = new Map<string, boolean>()
  constructor(names: readonly string[]) {
    super(names)
    this.#patterns = createNameList(names.filter(isWildcard))
  }
  override has(name: string): boolean {
    if (super.has(name)) return true
    const known = this.#answers.get(name)
    if (known !== undefined) return known
    const answer = this.#patterns.find(name) !== undefined
    if (this.#answers.size === MOST_ANSWERS) this.#answers.clear()
    if (name.length <= LONGEST_NAME) this.#answers.set(name, answer)
    return answer
  }
}

/**
 * The models of a grant or an allowlist.
 *
 * @example modelSet(['fast', 'openai/*']).has('openai/gpt-5') // true
 */
export function modelSet(names: readonly string[]): ReadonlySet<string> {
  return names.some(isWildcard) ? new ModelPatterns(names) : new Set(names)
}

/**
 * The names that two names, each with at most one `*`, have in common; undefined if none.
 *
 * @example overlap('openai/*', '*-mini') // 'openai/*-mini'
 */
export function overlap(one: string, other: string): string | undefined {
  if (one === other) return one
  const patterns = [one, other].filter(isWildcard)
  if (patterns.length === 0) return undefined
  if (modelSet([one]).has(other)) return other
  if (modelSet([other]).has(one)) return one
  if (patterns.length === 1) return undefined
  const [before = '', after = ''] = one.split('*')
  const [start = '', end = ''] = other.split('*')
  const [head, longHead] = before.length < start.length ? [before, start] : [start, before]
  const [tail, longTail] = after.length < end.length ? [after, end] : [end, after]
  const fits = longHead.startsWith(head) && longTail.endsWith(tail)
  return fits ? `${longHead}*${longTail}` : undefined
}

/** The models of a config, to check names of models. */
export interface KnownModels {
  /** Why no model matches a name or pattern; undefined if one matches. */
  faultOf(name: string): string | undefined
}

export function knownModels(ids: Iterable<string>): KnownModels {
  const known = [...ids]
  const names = createNameList(known)
  return {
    faultOf(name) {
      if (name.indexOf('*') !== name.lastIndexOf('*')) {
        return `${name} has more than one *; use one, which matches any text, as in openai/*`
      }
      if (names.find(name) !== undefined) return undefined
      const isCovered = isWildcard(name) && known.some((id) => overlap(name, id) !== undefined)
      return isCovered ? undefined : `no model matches ${name}`
    },
  }
}

/** The models of a config, with aliases resolved. */
export type Aliases = ReadonlyMap<string, { readonly aliasOf?: string | undefined }>

/**
 * The model that is executed for a name: the name itself, or the target of its aliases; undefined
 * if no model matches. Aliases of an invalid config may form a cycle.
 */
export function executedModel(name: string, aliases: Aliases): string | undefined {
  const names = createNameList(aliases.keys())
  const passed = new Set<string>()
  for (let at = name; ; ) {
    const found = names.find(at)
    if (found === undefined && passed.size === 0) return undefined
    passed.add(at)
    const { entry = '', part } = found ?? {}
    const target = aliases.get(entry)?.aliasOf
    const next = part === undefined ? target : target && fillWildcard(target, part)
    // Wildcard aliases may produce longer and longer names.
    if (next === undefined || passed.has(next) || passed.size > aliases.size) return at
    at = next
  }
}
