import { closest } from '../wire/suggest.ts'

/** A map as read from the file. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads a field of a raw map under its name or a misspelling of it. */
export function fieldOf(value: unknown, name: string, known: readonly string[]): unknown {
  if (!isFields(value)) return undefined
  const key = matchKeys(value, known).written.get(name)
  return key === undefined ? undefined : value[key]
}

/**
 * Maps each known field to the key of `value` that sets it. A misspelt key counts as the nearest
 * field that is not set otherwise, so that one typo causes one problem.
 */
export function matchKeys(value: object, known: readonly string[]) {
  const written = new Map<string, string>()
  const unknown: { key: string; meant: string | undefined }[] = []
  const keys = Object.keys(value)
  for (const key of keys) if (known.includes(key)) written.set(key, key)
  for (const key of keys) {
    if (known.includes(key)) continue
    const meant = closest(
      key,
      known.filter((name) => !written.has(name)),
    )
    if (meant !== undefined) written.set(meant, key)
    unknown.push({ key, meant })
  }
  return { written, unknown }
}
