import type { SnapshotRow } from '../_shared/sheet.ts'
import type { PriceList } from './lists.ts'
import { type LiteLlmPrices, pricesOf, withSizes } from './litellm.ts'
import { type Difference, isOtherModel, isSameModel, merged } from './merge.ts'
import { holdsOn, type Model, type Sources } from './models.ts'
import { otherModels, textPrices } from './models-dev.ts'
import { matches } from './names.ts'
import { type Disagreement, nameOf, settle } from './settle.ts'
import { isApart, isWithout } from './supplement.ts'

interface Other extends LiteLlmPrices {
  readonly hasSource: boolean
}

/** Adds models that only LiteLLM has, and LiteLLM's additional prices to the others. */
export function addOther(
  models: Model[],
  list: PriceList,
  sources: Sources,
  disagreements: Disagreement[],
): void {
  const { litellm, date } = sources
  const others = new Map<string, Other>()
  const entries = Object.entries(litellm)
  const listedThere = list.litellm.flatMap((provider) =>
    entries.filter(([, entry]) => entry.litellm_provider === provider),
  )
  for (const [key, entry] of listedThere) {
    const name = list.nameOf(key)
    const prices = name === undefined ? undefined : pricesOf(entry)
    if (name === undefined || prices === undefined || others.has(name)) continue
    if (isWithout(list.id, name)) continue
    others.set(name, { ...prices, hasSource: typeof entry.source === 'string' })
  }
  for (const [key, prices, entry] of withSizes(litellm)) {
    const name = list.litellm.includes(String(entry.litellm_provider))
      ? list.nameOf(key)
      : undefined
    if (name !== undefined) others.set(name, { ...prices, hasSource: true })
  }
  const listed = [...models]
  const settled = (model: Model, row: SnapshotRow, name: string, other: Other) => {
    const differences: Difference[] = []
    merged(row, model.withheld, other, (difference) => {
      differences.push(difference)
      return difference.ours
    })
    const modelsDev = textPrices(sources.modelsDev, list.id, name, date)
    const { hasSource } = other
    return settle(differences, { provider: list.id, model: name, modelsDev, hasSource })
  }
  for (const model of listed) {
    const row = model.rows.find((each) => holdsOn(each, date))
    if (row === undefined) continue
    const [own = ''] = model.names
    const differs = (name: string) => isOtherModel(row, others.get(name)?.usual ?? {})
    // Names whose prices changed, unless the list is wrong about them.
    const moved = model.names.filter((name) => {
      const other = others.get(name)
      if (other === undefined || !differs(name)) return false
      const found = settled(model, row, name, other)
      disagreements.push(...found)
      return found.some(({ taken, prices }) => taken === 'litellm' && isOfText(prices))
    })
    const agreed = model.names.some((name) => others.has(name) && !differs(name))
    // A name that only the first list has belongs to the model with the same name in another
    // spelling, or to the model of its main name.
    const follows = (name: string, to: string) =>
      !others.has(name) && (stem(name) === stem(to) || (to === own && !agreed))
    for (const to of moved) {
      const along = model.names.filter((name) => follows(name, to))
      models.push(alone([to, ...along], others.get(to) as Other))
      const gone = [to, ...along]
      model.names.splice(0, Infinity, ...model.names.filter((name) => !gone.includes(name)))
    }
  }
  addOtherNames(models, list.id, listed, others, date)
  const known = new Set(models.flatMap(({ names }) => names))
  const third = otherModels(sources.modelsDev, list.id, known, date)
    .filter(([name]) => !isWithout(list.id, name))
    .map(([name, usual]) => [name, { usual, tiers: {} }] as const)
  addOtherNames(models, list.id, listed, new Map(third), date, 'model-prices')
  for (const model of listed) {
    model.rows = model.rows.map((row) => {
      if (!holdsOn(row, date)) return row
      const name = model.names.find((each) => {
        const other = others.get(each)
        return other !== undefined && !isOtherModel(row, other.usual)
      })
      const other = others.get(name ?? '')
      if (name === undefined || other === undefined) return row
      const found = settled(model, row, name, other)
      disagreements.push(...found)
      const joined = merged(row, model.withheld, other, (difference) => {
        const { taken } = found.find(({ prices }) => nameOf(difference) in prices) ?? {}
        return taken === 'litellm' ? difference.theirs : difference.ours
      })
      return { ...joined, by: [...new Set([...(row.by ?? []), 'litellm'])] }
    })
  }
  const named = models.filter(({ names }) => names.length > 0)
  models.splice(0, models.length, ...named)
}

/** Bedrock's ids go with and without their version. */
function stem(name: string): string {
  return name.replace(/-v1(:0)?$/, '')
}

function isOfText(prices: Disagreement['prices']): boolean {
  return 'input' in prices || 'output' in prices
}

/** A model of one list. */
function alone(names: string[], { usual, tiers }: LiteLlmPrices, by = 'litellm'): Model {
  const row = { ...usual, ...(Object.keys(tiers).length > 0 && { tiers }), by: [by] }
  return { names, withheld: new Set(), rows: [row] }
}

/**
 * Names that only one list has: they belong to a model whose pattern and prices they match, or else
 * are new models.
 */
function addOtherNames(
  models: Model[],
  provider: string,
  listed: readonly Model[],
  others: ReadonlyMap<string, LiteLlmPrices>,
  date: string,
  by = 'litellm',
): void {
  const known = new Set(models.flatMap(({ names }) => names))
  for (const [name, other] of others) {
    if (known.has(name)) continue
    const same = listed.find(
      ({ match, rows }) =>
        match !== undefined &&
        !isApart(provider, name) &&
        matches(match, name) &&
        rows.some((row) => holdsOn(row, date) && isSameModel(row, other.usual)),
    )
    if (same !== undefined) same.names.push(name)
    else if (Object.keys(other.usual).length > 0) models.push(alone([name], other, by))
  }
}
