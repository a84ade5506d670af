import { shownPrice } from './_shared/money.ts'
import type { Unit } from './_shared/sheet.ts'
import { type Catalog, contentOf, type ModelRate } from './catalog.ts'

/** The prices of a rate as stored in `model_pricing`: pico-USD by unit, standard and by tier. */
export type StoredPrices = Readonly<Record<string, unknown>>

/** Display prices by label, such as `input` or `flex output above 272000`. */
export type Labelled = Map<string, string>

/** Prices by model, then by label; the key is `provider model`. */
export type PriceBook = ReadonlyMap<string, Labelled>

const TIER = 'tier:'

export function storedPrices({ usual, tiers }: ModelRate): StoredPrices {
  const named = [...tiers].map(([tier, own]) => [`${TIER}${tier}`, contentOf(own)] as const)
  return { ...contentOf(usual), ...Object.fromEntries(named) }
}

/** Adds the labels of a rate; a start date becomes their prefix. */
export function addLabels(labelled: Labelled, prices: StoredPrices, from?: string): void {
  const start = from === undefined ? '' : `from ${from}: `
  const add = (sheet: StoredPrices, tier: string, above: string) => {
    for (const [unit, pico] of Object.entries(sheet)) {
      if (typeof pico !== 'string') continue
      labelled.set(`${start}${tier}${unit}${above}`, shownPrice(unit as Unit, BigInt(pico)))
    }
  }
  const addSheet = (sheet: StoredPrices, tier: string) => {
    add(sheet, tier, '')
    const long = (sheet.long ?? []) as readonly (StoredPrices & { readonly above: number })[]
    for (const { above, ...own } of long) add(own, tier, ` above ${above}`)
  }
  addSheet(prices, '')
  for (const [name, sheet] of Object.entries(prices)) {
    if (name.startsWith(TIER)) addSheet(sheet as StoredPrices, `${name.slice(TIER.length)} `)
  }
}

export function bookOf(catalog: Catalog): PriceBook {
  const book = new Map<string, Labelled>()
  for (const [provider, models] of catalog) {
    for (const [model, rates] of models) {
      const labelled: Labelled = new Map()
      for (const rate of rates) addLabels(labelled, storedPrices(rate), rate.from)
      book.set(`${provider} ${model}`, labelled)
    }
  }
  return book
}

/** Added, removed and changed models, one line each, then the counts. */
export function* differences(before: PriceBook, after: PriceBook): Iterable<string> {
  const counts = { added: 0, removed: 0, changed: 0 }
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(name), after.get(name)]
    if (old === undefined) {
      counts.added += 1
      yield `+ ${name}: ${textOf(now)}`
    } else if (now === undefined) {
      counts.removed += 1
      yield `- ${name}: ${textOf(old)}`
    } else {
      const labels = [...new Set([...old.keys(), ...now.keys()])]
      const changed = labels.filter((label) => old.get(label) !== now.get(label))
      if (changed.length === 0) continue
      counts.changed += 1
      const each = (label: string) =>
        `${label} ${old.get(label) ?? 'none'} → ${now.get(label) ?? 'none'}`
      yield `~ ${name}: ${changed.map(each).join(', ')}`
    }
  }
  yield `${counts.added} added, ${counts.removed} removed, ${counts.changed} changed`
}

function textOf(labelled: Labelled = new Map()): string {
  return [...labelled].map(([label, price]) => `${label} ${price}`).join(', ')
}
