/**
 * The fields of `after` that differ from `before`. Only these are sent, because the config file no
 * longer updates a field that was sent, changed or not.
 */
export function changesOf<T extends object>(before: Partial<T>, after: T): Partial<T> {
  const same = (key: keyof T) => JSON.stringify(before[key]) === JSON.stringify(after[key])
  return Object.fromEntries(
    Object.entries(after).filter(([key]) => !same(key as keyof T)),
  ) as Partial<T>
}

/** The path of a field, with its JSON before and after; `undefined`: the field is absent. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The leaves that differ between two values, sorted by path. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const was = leavesOf(before)
  const is = leavesOf(after)
  return [...new Set([...was.keys(), ...is.keys()])]
    .sort()
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }))
}

function leavesOf(value: unknown): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>()
  function visit(here: unknown, path: string): void {
    const isList = Array.isArray(here)
    // The order of `required` and `enum` has no meaning.
    const members: readonly (readonly [string, unknown])[] =
      typeof here !== 'object' || here === null
        ? []
        : isList && here.every((one) => typeof one === 'string')
          ? here.map((one) => [`[${one}]`, one])
          : Object.entries(here)
    // An empty `required` is the same as none.
    if (path === 'required' && members.length === 0) return
    if (members.length === 0) leaves.set(path, JSON.stringify(here))
    for (const [key, member] of members) {
      visit(member, path === '' ? key : key.startsWith('[') ? `${path}${key}` : `${path}.${key}`)
    }
  }
  visit(value, '')
  return leaves
}
