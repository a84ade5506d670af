import type { BoundRoute, Conversion, Dialect, Execute, GuardPolicy } from '../plugin/index.ts'

/** How a route serves the calls of a dialect. */
export interface Way {
  /** The dialect of the upstream call and its reply. */
  readonly dialect: Dialect
  /** Undefined if the dialect answers without an upstream. */
  readonly execute: Execute | undefined
  /** The conversion from the caller's dialect; undefined if the route speaks that dialect. */
  readonly conversion: Conversion | undefined
  /** The caller's dialect, if a plugin declares it. */
  readonly spoken?: Dialect | undefined
}

/** The dialects and conversions of the loaded plugins. */
export interface Languages {
  readonly dialects: ReadonlyMap<string, Dialect>
  readonly conversions: readonly Conversion[]
}

/**
 * By the caller's dialect: that dialect if the route speaks it, else the first conversion. If a
 * dialect answers itself, nothing is sent to the upstream of a route whose guard checks prompts.
 */
export function waysOf(
  { execute }: BoundRoute,
  languages: Languages,
  guard?: GuardPolicy,
): ReadonlyMap<string, Way> {
  const { dialects, conversions } = languages
  const ways = new Map<string, Way>()
  const add = (from: string, to: string, conversion: Conversion | undefined) => {
    const dialect = dialects.get(to)
    if (dialect === undefined || ways.has(from)) return
    const answers = dialect.answer !== undefined
    const executor = answers && guard?.covers('prompt') ? undefined : execute[to]
    if (executor === undefined && !answers) return
    ways.set(from, { dialect, execute: executor, conversion, spoken: dialects.get(from) })
  }
  for (const id of dialects.keys()) add(id, id, undefined)
  for (const conversion of conversions) add(conversion.from, conversion.to, conversion)
  return ways
}
