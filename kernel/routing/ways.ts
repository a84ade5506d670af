import type { BoundRoute, Conversion, Dialect, Execute, GuardPolicy } from '../plugin/index.ts'

/** How a route serves the calls of a dialect. */
export interface Way {
  /** What the route is sent, and answers in. */
  readonly dialect: Dialect
  /** Undefined: the dialect answers itself. */
  readonly execute: Execute | undefined
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

/**
 * By the dialect of the callers: itself where the route speaks it, else the first conversion. What a
 * dialect answers itself is not sent to the upstream of a route whose guard looks at prompts.
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
