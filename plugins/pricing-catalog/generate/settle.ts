import type { Prices, Unit } from '../_shared/sheet.ts'
import type { Difference } from './merge.ts'
import supplement from './supplement.json' with { type: 'json' }

export type ListName = 'genai-prices' | 'litellm'

/** A model for which two lists state different prices. */
export interface Disagreement {
  readonly provider: string
  readonly model: string
  /** By label, such as `output` or `flex input above 272000`; the values are prices by list. */
  readonly prices: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly taken: ListName
  readonly why: string
}

/** Further evidence about a model with conflicting prices. */
export interface Evidence {
  readonly provider: string
  readonly model: string
  readonly modelsDev: Prices
  /** LiteLLM names the source page of its prices. */
  readonly hasSource: boolean
}

interface Settled {
  readonly provider: string
  readonly models: string
  readonly units?: readonly string[]
  readonly taken: string
  readonly why: string
}

/** Chooses one list for all prices of a model that no vendor page settles. */
export function settle(differences: readonly Difference[], evidence: Evidence): Disagreement[] {
  const known = new Map<string, { taken: ListName; why: string; of: Difference[] }>()
  for (const difference of differences) {
    const { taken, why } = settledBy(difference.unit, evidence) ?? weighed(differences, evidence)
    const same = known.get(why) ?? { taken, why, of: [] }
    same.of.push(difference)
    known.set(why, same)
  }
  const { provider, model, modelsDev } = evidence
  return [...known.values()].map(({ taken, why, of }) => {
    const prices = of.map((difference) => {
      const third = isUsual(difference) ? modelsDev[difference.unit] : undefined
      const stated = { 'genai-prices': difference.ours, litellm: difference.theirs }
      return [nameOf(difference), { ...stated, ...(third && { 'models.dev': third }) }] as const
    })
    return { provider, model, prices: Object.fromEntries(prices), taken, why }
  })
}

export function nameOf({ tier, unit, above }: Omit<Difference, 'ours' | 'theirs'>): string {
  return `${tier === '' ? '' : `${tier} `}${unit}${above === undefined ? '' : ` above ${above}`}`
}

function isUsual({ tier, above }: Difference): boolean {
  return tier === '' && above === undefined
}

function settledBy(unit: Unit, { provider, model }: Evidence) {
  const settled: readonly Settled[] = supplement.settled
  const found = settled.find(
    (each) =>
      each.provider === provider &&
      new Bun.Glob(each.models).match(model) &&
      (each.units?.includes(unit) ?? true),
  )
  return found && { taken: found.taken as ListName, why: found.why }
}

function weighed(differences: readonly Difference[], { modelsDev, hasSource }: Evidence) {
  const agrees = (side: 'ours' | 'theirs') =>
    differences.filter((each) => isUsual(each) && modelsDev[each.unit] === each[side]).length
  const votes = agrees('ours') - agrees('theirs')
  if (votes !== 0) {
    const taken: ListName = votes > 0 ? 'genai-prices' : 'litellm'
    return { taken, why: 'models.dev has the same' }
  }
  return hasSource
    ? ({ taken: 'litellm', why: 'the newer list' } as const)
    : ({ taken: 'genai-prices', why: 'litellm names no page that it is from' } as const)
}
