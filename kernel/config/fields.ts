import { matchKeys } from './suggest.ts'

/** A map of the file as it was read. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field of a raw map, under its own name or a misspelling of it. */
export function fieldOf(value: unknown, name: string, known: readonly string[]): unknown {
  if (!isFields(value)) return undefined
  const key = matchKeys(value, known).written.get(name)
  return key === undefined ? undefined : value[key]
}
