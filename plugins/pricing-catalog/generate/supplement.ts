import type { Prices, Unit } from '../_shared/sheet.ts'
import type { Model } from './models.ts'
import supplement from './supplement.json' with { type: 'json' }

interface Fees {
  readonly provider: string
  /** Of its models that have a price for this. */
  readonly with: Unit
  readonly prices: Prices
}

/** Only what the lists lack: once they have caught up, the entry has to go. */
export function addNames(models: readonly Model[], provider: string): void {
  for (const { of, ...entry } of supplement.names) {
    if (entry.provider !== provider) continue
    for (const [model, names] of Object.entries(of)) {
      const found = models.find((each) => each.names.includes(model))
      if (found === undefined) throw new Error(`supplement: ${provider} has no model ${model}`)
      const known = names.find((name) => models.some((each) => each.names.includes(name)))
      if (known !== undefined) throw new Error(`supplement: ${provider} has ${known} by now`)
      found.names.push(...names)
    }
  }
}

/** What a vendor charges beside tokens, for all its models. */
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
