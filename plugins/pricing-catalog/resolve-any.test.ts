import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chatDialect, readMessagesUsage, responsesDialect, type Usage } from 'model-gateway/wire'
import { anyUsage } from '../../test/harness/any-usage.ts'
import { pieceUnits, type SnapshotRow, tokenUnits } from './_shared/sheet.ts'
import { buildCatalog } from './catalog.ts'
import { resolvePrice } from './resolve.ts'

const units = [...tokenUnits, ...pieceUnits]
const row: fc.Arbitrary<SnapshotRow> = fc.dictionary(
  fc.constantFrom(...units),
  fc.nat(1000).map((price) => String(price / 4)),
  { maxKeys: units.length, size: 'max' },
)

const readers = [
  (usage: Parameters<typeof readMessagesUsage>[0]) =>
    chatDialect.readReply({ choices: [], usage: usage ?? null }).usage,
  (usage: Parameters<typeof readMessagesUsage>[0]) =>
    responsesDialect.readReply({ output: [], status: 'completed', usage: usage ?? null }).usage,
  (usage: Parameters<typeof readMessagesUsage>[0]) => readMessagesUsage(usage),
]

/** The units that need a price according to the usage, each with its fallback unit. */
function needed(usage: Usage) {
  const { parts = {}, uses = {}, cacheWriteHour = 0 } = usage
  const need: [unit: string, quantity: number, other?: string | undefined][] = []
  for (const [side, unit, tokens = 0] of [
    ['input', 'input', usage.uncachedInput],
    ['cached', 'cache_read', usage.cacheRead],
    ['output', 'output', usage.output],
  ] as const) {
    let text = tokens
    for (const kind of ['audio', 'image', 'video'] as const) {
      const part = parts[`${side}_${kind}`] ?? 0
      const asText = kind === 'audio' || side === 'output' ? undefined : unit
      need.push([`${side}_${kind}`, part, asText])
      text -= part
    }
    need.push([unit, text])
  }
  need.push(['cache_write', (usage.cacheWrite ?? 0) - cacheWriteHour])
  need.push(['cache_write_1h', cacheWriteHour])
  for (const [tool, times] of Object.entries(uses)) need.push([tool, times])
  return need.filter(([, quantity]) => quantity > 0)
}

test('for any reply, a price is the sum of its items and covers all usage, or is missing', () => {
  let priced = 0
  let unpriced = 0
  fc.assert(
    fc.property(
      anyUsage,
      fc.constantFrom(...readers),
      row,
      fc.boolean(),
      (raw, read, prices, bills) => {
        const usage = read(raw)
        if (usage === undefined) return
        const price = resolvePrice(buildCatalog({ p: { m: [prices] } }), {
          identity: { pricingProviderId: 'p', model: 'm', ...(bills && { billsStatedCost: true }) },
          configVersion: 'v1',
          usage,
          billingModifiers: [],
          at: new Date(0),
        })
        if (price.status === 'unpriced') {
          unpriced++
          return
        }
        priced++
        const { items = [] } = price
        const sum = items.reduce(
          (all, item) => all + BigInt(item.quantity) * item.picoUsdPerUnit,
          0n,
        )
        expect(price.costPicoUsd).toBe(sum)
        // An estimate says why.
        expect(price.status === 'priced').toBe((usage.doubt ?? price.doubt) === undefined)
        if (price.source === 'seller') return
        const isUsual = !usage.tier?.split('+').some((part) => part !== 'default')
        expect(isUsual).toBe(true)
        const quantities = Object.fromEntries(items.map(({ unit, quantity }) => [unit, quantity]))
        for (const [unit, quantity, other] of needed(usage)) {
          const sold = prices[unit as keyof SnapshotRow] ?? prices[other as keyof SnapshotRow]
          if (sold === undefined && unit === 'web_fetch') continue
          expect([unit, sold]).not.toEqual([unit, undefined])
          expect([unit, quantities[unit]]).toEqual([unit, quantity])
        }
      },
    ),
    { numRuns: 4000 },
  )
  expect(priced).toBeGreaterThan(100)
  expect(unpriced).toBeGreaterThan(100)
})
