import {
  type Prices,
  type Sheet,
  type SnapshotRow,
  tokenUnits,
  type Unit,
} from '../_shared/sheet.ts'
import { product } from './decimal.ts'
import type { HourDays } from './genai-prices.ts'
import type { Model } from './models.ts'
import supplement from './supplement.json' with { type: 'json' }

interface Fees {
  readonly provider: string
  /** Applies to the provider's models with a price for this unit. */
  readonly with: Unit
  readonly prices: Prices
}

/** Adds models that no list has; throws if a list has one by now, so that the entry is removed. */
export function addModels(models: Model[], provider: string): void {
  for (const { names, prices, ...entry } of supplement.models) {
    if (entry.provider !== provider) continue
    const known = names.find((name) => models.some((each) => each.names.includes(name)))
    if (known !== undefined) throw new Error(`supplement: ${provider} has ${known} by now`)
    models.push({ names, withheld: new Set(), rows: [{ ...prices, by: ['supplement'] }] })
  }
}

/** Whether the list's entry for a model is outdated and therefore excluded. */
export function isWithout(provider: string, model: string): boolean {
  return supplement.without.some(
    (each) => each.provider === provider && each.models.includes(model),
  )
}

/** Whether a name that matches the pattern of a model is a different model with other fees. */
export function isApart(provider: string, name: string): boolean {
  return supplement.apart.some((each) => each.provider === provider && each.names.includes(name))
}

/** The days on which the time-of-day prices of a provider apply. */
export function hourDays(provider: string): HourDays | undefined {
  const found = supplement.hours.find((each) => each.provider === provider)
  return found && { weekdays: found.weekdays, except: found.except }
}

/** Fees that a vendor charges in addition to tokens, for all its models. */
export function addFees(models: readonly Model[], provider: string): void {
  const fees = supplement.fees as readonly Fees[]
  for (const { prices, with: unit } of fees.filter((each) => each.provider === provider)) {
    for (const model of models) {
      model.rows = model.rows.map((row) =>
        row[unit] === undefined
          ? row
          : { ...prices, ...row, by: [...(row.by ?? []), 'supplement'] },
      )
    }
  }
}

/** Tiers whose tokens cost a multiple of those of every other tier, such as inference in one country. */
export function addMultiples(models: readonly Model[], provider: string): void {
  for (const { tier, factor, models: globs, ...entry } of supplement.multiples) {
    if (entry.provider !== provider) continue
    const patterns = globs.map((glob) => new Bun.Glob(glob))
    for (const model of models) {
      if (!patterns.some((glob) => glob.match(model.names[0] ?? ''))) continue
      model.rows = model.rows.map((row) => withMultiple(row, tier, factor))
    }
  }
}

function withMultiple(row: SnapshotRow, tier: string, factor: string): SnapshotRow {
  const others = Object.entries(row.tiers ?? {}).map(
    ([name, sheet]) => [`${name}+${tier}`, multiplied(sheet, factor)] as const,
  )
  const tiers = { ...row.tiers, [tier]: multiplied(row, factor), ...Object.fromEntries(others) }
  return { ...row, tiers }
}

function multiplied({ long, ...prices }: Sheet, factor: string): Sheet {
  const tokens = (all: Prices): Prices =>
    Object.fromEntries(
      tokenUnits.flatMap((unit) => {
        const price = all[unit]
        return price === undefined ? [] : [[unit, product(price, factor)]]
      }),
    )
  const longer = long?.map((each) => ({ above: each.above, prices: tokens(each.prices) }))
  return { ...tokens(prices), ...(longer && { long: longer }) }
}
