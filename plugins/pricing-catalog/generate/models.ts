import { pieceUnits, type SnapshotRow, tokenUnits, type Unit } from '../_shared/sheet.ts'
import { type ListedModel, type ListedProvider, rowsOf } from './genai-prices.ts'
import type { PriceList } from './lists.ts'
import type { LiteLlmEntry } from './litellm.ts'
import type { ModelsDev } from './models-dev.ts'
import { bedrockNamesOf, namesOf } from './names.ts'
import { hourDays, isApart, isWithout } from './supplement.ts'

/** A model with all its names, the first of which is its own. */
export interface Model {
  readonly names: string[]
  rows: readonly SnapshotRow[]
  readonly withheld: ReadonlySet<Unit>
  readonly match?: ListedModel['match']
}

export interface Sources {
  /** The day on which the prices apply. */
  readonly date: string
  readonly genai: readonly ListedProvider[]
  readonly litellm: Readonly<Record<string, LiteLlmEntry>>
  readonly modelsDev: ModelsDev
}

/** The models of genai-prices. */
export function modelsOf(list: PriceList, { genai, date }: Sources): Model[] {
  if (list.genai === undefined) return []
  const provider = genai.find(({ id }) => id === list.genai)
  if (provider === undefined) throw new Error(`genai-prices has no provider ${list.genai}`)
  const listed = provider.models.filter(
    ({ id }) => (list.takes?.(id) ?? true) && !isWithout(list.id, id),
  )
  const namesIn = list.id === 'amazon-bedrock' ? bedrockNamesOf : namesOf
  // The main name of a model wins over other names; otherwise the first model wins.
  const taken = new Set<string>()
  const own = new Map(listed.toReversed().map((model) => [namesIn(model)[0], model]))
  const models: Model[] = []
  for (const model of listed) {
    const names = namesIn(model).filter((name) => {
      if (isApart(list.id, name)) return false
      const isFree = own.has(name) ? own.get(name) === model : !taken.has(name)
      return isFree && taken.add(name)
    })
    if (names.length === 0) continue
    const read = rowsOf(model, date, hourDays(list.id))
    const { withheld } = read
    const rows = model.id.endsWith(':free') ? read.rows.map(free) : read.rows
    // A model without a price counts as missing.
    if (withheld.size === 0 && !rows.some(hasPrice)) continue
    models.push({
      names,
      withheld,
      match: model.match,
      rows: rows.map((row) => ({ ...groundedIn(list.id, row), by: ['genai-prices'] })),
    })
  }
  return models
}

/** Google charges searches of models before Gemini 3 per prompt, at a higher price. */
function groundedIn(list: string, row: SnapshotRow): SnapshotRow {
  const { web_search: price, ...others } = row
  return list === 'google-vertex' && price === '35' ? { ...others, grounding: price } : row
}

/** A free model, by its name. */
function free(row: SnapshotRow): SnapshotRow {
  return hasPrice(row) ? row : { input: '0', output: '0', ...row }
}

function hasPrice(row: SnapshotRow): boolean {
  return [...tokenUnits, ...pieceUnits].some((unit) => row[unit] !== undefined)
}

export function holdsOn({ from = '', until = '9999' }: SnapshotRow, day: string): boolean {
  return from <= day && day < until
}
