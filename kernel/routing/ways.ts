import type { BoundRoute, Conversion, Dialect, Execute } from '../plugin/index.ts'

/** How a route serves the calls of a dialect. */
export interface Way {
  /** What the route is sent, and answers in. */
  readonly dialect: Dialect
  readonly execute: Execute
  /** From the callers' dialect; undefined when the route speaks that itself. */
  readonly conversion: Conversion | undefined
  /** The callers' dialect, where a plugin knows it as one. */
  readonly spoken?: Dialect | undefined
}

/** The dialects and conversions of the loaded plugins. */
export interface Languages {
  readonly dialects: ReadonlyMap<string, Dialect>
  readonly conversions: readonly Conversion[]
}

/** By the dialect of the callers: itself where the route speaks it, else the first conversion. */
export function waysOf({ execute }: BoundRoute, languages: Languages): ReadonlyMap<string, Way> {
  const { dialects, conversions } = languages
  const ways = new Map<string, Way>()
  const add = (from: string, to: string, conversion: Conversion | undefined) => {
    const dialect = dialects.get(to)
    const executor = execute[to]
    if (dialect === undefined || executor === undefined || ways.has(from)) return
    ways.set(from, { dialect, execute: executor, conversion, spoken: dialects.get(from) })
  }
  for (const id of dialects.keys()) add(id, id, undefined)
  for (const conversion of conversions) add(conversion.from, conversion.to, conversion)
  return ways
}
