/** How a Claude model accepts effort and thinking budgets. */
export type ReasoningTier = 'newest' | 'previous_two' | 'preview' | 'mid' | 'older'

/** A Claude model, as far as its id tells. */
export interface ClaudeName {
  readonly line: string
  readonly major: number
  readonly minor: number
}

/** Where each tier begins; the first matching row applies, otherwise `older`. */
const tiers: readonly {
  readonly tier: ReasoningTier
  readonly lines: readonly string[]
  readonly from: readonly [major: number, minor: number]
  /** Matches exactly this version, not later ones. */
  readonly exact?: true
}[] = [
  { tier: 'newest', lines: ['fable'], from: [0, 0] },
  { tier: 'newest', lines: ['opus'], from: [4, 7] },
  { tier: 'newest', lines: ['sonnet', 'haiku', 'mythos'], from: [5, 0] },
  { tier: 'previous_two', lines: ['opus', 'sonnet'], from: [4, 6], exact: true },
  { tier: 'mid', lines: ['opus'], from: [4, 5], exact: true },
]

const PREVIEW = 'claude-mythos-preview'

/** Eight digits are a date, not a minor version. */
const NAME =
  /claude-(?<line>opus|sonnet|haiku|fable|mythos)-(?<major>\d+)(?:-(?<minor>\d{1,2})(?!\d))?/
/** Up to 3.7 the version comes before the line. */
const OLD_NAME = /claude-(?<major>\d)(?:-(?<minor>\d))?-(?<line>opus|sonnet|haiku)/

/** The tier of an upstream model id, with or without region prefix, date or version suffix. */
export function reasoningTier(upstreamModel: string): ReasoningTier {
  const id = upstreamModel.toLowerCase()
  if (id.includes(PREVIEW)) return 'preview'
  const model = claudeName(id)
  return (model && tiers.find((row) => fits(model, row)))?.tier ?? 'older'
}

/** Line and version of an upstream model id; undefined if the id has none. */
export function claudeName(upstreamModel: string): ClaudeName | undefined {
  const id = upstreamModel.toLowerCase()
  const { line, major, minor = '0' } = (NAME.exec(id) ?? OLD_NAME.exec(id))?.groups ?? {}
  return line === undefined ? undefined : { line, major: Number(major), minor: Number(minor) }
}

function fits({ line, major, minor }: ClaudeName, row: (typeof tiers)[number]): boolean {
  const [fromMajor, fromMinor] = row.from
  if (!row.lines.includes(line)) return false
  if (major === fromMajor && minor === fromMinor) return true
  return row.exact !== true && (major > fromMajor || (major === fromMajor && minor > fromMinor))
}
