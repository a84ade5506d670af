import type { JsonValue } from '../plugin/json.ts'
import { skipSpace, visitJson } from './json-text.ts'

/**
 * Returns the JSON text with top-level members replaced, appended or, for `undefined`, removed. All
 * else is copied, so that integers above 2⁵³ are kept.
 */
export function editMembers(
  text: string,
  changes: ReadonlyMap<string, JsonValue | undefined>,
): string {
  const changed: string[] = []
  let out = ''
  /** Ranges of unchanged members, in order. */
  let from = -1
  let to = -1

  function add(piece: string): void {
    out += out === '' ? piece : `,${piece}`
  }
  function change(name: string): void {
    const value = changes.get(name)
    if (value !== undefined) add(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  }
  visitJson(text, skipSpace(text, 0), (key, _, end, start) => {
    const name = key as string
    if (!changes.has(name)) {
      if (from === -1) from = start
      to = end
      return
    }
    if (from !== -1) add(text.slice(from, to))
    from = -1
    changed.push(name)
    change(name)
  })
  if (from !== -1) add(text.slice(from, to))
  for (const name of changes.keys()) if (!changed.includes(name)) change(name)
  return `{${out}}`
}
