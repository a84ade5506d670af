import type { ListedModel, Match } from './genai-prices.ts'

/** Whether a match rule applies to a name. */
export function matches(match: Match, name: string): boolean {
  const low = name.toLowerCase()
  if ('or_' in match) return match.or_.some((rule) => matches(rule, low))
  if ('and_' in match) return match.and_.every((rule) => matches(rule, low))
  if ('equals' in match) return low === match.equals.toLowerCase()
  if ('starts_with' in match) return low.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return low.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return low.includes(match.contains.toLowerCase())
  return new RegExp(match.regex).test(low)
}

/** The full names in a match rule, without patterns. */
export function namesOf({ id, match }: Pick<ListedModel, 'id' | 'match'>): string[] {
  const rules = 'or_' in match ? match.or_ : [match]
  return unique([id, ...rules.flatMap((rule) => ('equals' in rule ? [rule.equals] : []))])
}

/**
 * Bedrock model and inference profile ids. The list writes down geographies as patterns that hold
 * a full id, files in-region ids under `regional.`, and has `-v1:0` on some ids that go without it, or
 * with `-v1` alone.
 */
export function bedrockNamesOf({ id, match }: Pick<ListedModel, 'id' | 'match'>): string[] {
  const own = id.replace(/^regional\./, '')
  const stem = own.replace(/-v1:0$/, '')
  const rules = 'or_' in match ? match.or_ : [match]
  const written = rules
    .flatMap((rule) => Object.values(rule))
    .filter((text): text is string => typeof text === 'string')
    // A leading slash is the end of an ARN.
    .map((text) => text.replace(/^\//, '').replace(/-v1(:0)?$/, ''))
    .filter((text) => text === stem || text.endsWith(`.${stem}`))
  return unique([own, stem, ...written].flatMap(withAndWithoutVersion))
}

function withAndWithoutVersion(name: string): string[] {
  const stem = name.replace(/-v1:0$/, '')
  if (/(-v\d+|:\d+)$/.test(stem)) return [name]
  const versions = [name, stem, `${stem}-v1:0`]
  // No Claude model with a date in its name ends like this.
  return /\.claude-[a-z]+-\d{1,2}(-\d{1,2})?$/.test(stem) ? [...versions, `${stem}-v1`] : versions
}

/** Vertex AI writes a dated Claude model `name@date` and an undated one `name` or `name@default`. */
export function vertexClaudeNamesOf(name: string): string[] {
  const dated = /^(.+)-(\d{8})$/.exec(name)
  return dated === null ? [name, `${name}@default`] : [name, `${dated[1]}@${dated[2]}`]
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}
