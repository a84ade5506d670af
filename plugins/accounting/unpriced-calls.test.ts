import { describe, expect, test } from 'bun:test'
import { call, dailyBudget, openAccounting, usage, useDatabase } from './testing.ts'

const database = useDatabase()
const open = () => openAccounting(database.database)
const refusing = (changes = {}) => dailyBudget('u1', 10n ** 12n, { unpriced: 'refuse', ...changes })
const unknown = { pricing: { pricingProviderId: 'p', model: 'vendor/none' } }
/** A reply with a billing modifier that the price list does not have. */
const searched = usage({ uses: { file_search: 1 } })

describe('a budget that refuses unpriced calls', () => {
  test('refuses a call whose model has no price, with a hint', async () => {
    const { admit, budget } = open()
    await budget([refusing()])
    expect(admit(call())).toBeUndefined()
    expect(() => admit(call(unknown))).toThrow(
      expect.objectContaining({
        code: 'budget_exceeded',
        message: expect.stringMatching(
          /unpriced: refuse.*has no price \(model_not_found\).*pricing\.overrides/,
        ),
        details: expect.objectContaining({ reason: 'unpriced' }),
        headers: { 'x-should-retry': 'false' },
      }) as Error,
    )
  })

  test('accepts a call that is sold by the piece, if its model has any price', async () => {
    const { admit, budget } = open()
    await budget([refusing()])
    expect(admit(call({ operation: 'rerank' }))).toBeUndefined()
    expect(() => admit(call({ ...unknown, operation: 'rerank' }))).toThrow('model_not_found')
  })

  test('refuses further calls of a kind, in the window, after a reply could not be priced', async () => {
    const { admit, settle, budget } = open()
    await budget([refusing()])
    const first = call({ usage: searched })
    await admit(first)
    expect(await settle(first)).toMatchObject({ pricingStatus: 'unpriced' })
    expect(() => admit(call())).toThrow('could not be priced in this window')
    expect(admit(call({ upstreamModel: 'other' }))).toBeUndefined()
    expect(admit(call({ dispatchedAt: new Date('2026-04-01T00:00:00Z') }))).toBeUndefined()
  })

  test('applies to its scope, soft or hard, and counts priced calls', async () => {
    const { admit, settle, budget } = open()
    await budget([refusing({ hardLimit: false })])
    const first = call({ usage: searched })
    await settle(first)
    expect(() => admit(call())).toThrow('unpriced: refuse')
    await budget([dailyBudget('u1', 10n ** 12n)])
    expect(admit(call())).toBeUndefined()
    expect(admit(call(unknown))).toBeUndefined()
  })
})
