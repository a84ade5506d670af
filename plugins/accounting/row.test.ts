import { expect, test } from 'bun:test'
import { chargeOf, ledgerRow, priced, usageMissing } from './row.ts'
import { call, usage } from './testing.ts'
import { utcDay } from './window.ts'

const most = 2n ** 63n - 1n
const at = (costPicoUsd: bigint) =>
  priced({ status: 'priced', costPicoUsd, rateId: 'r' }, undefined)

test('a cost above the maximum becomes the maximum, as an estimate', () => {
  expect(at(most)).toMatchObject({ pricingStatus: 'priced', costPicoUsd: most, doubt: undefined })
  expect(at(most + 1n)).toMatchObject({
    pricingStatus: 'legacy_estimated',
    costPicoUsd: most,
    doubt: expect.stringContaining(String(most + 1n)),
  })
})

test('an estimate has a reason, from its usage or its price', () => {
  const doubt = 'impossible_quantity'
  const price = { status: 'legacy_estimated', costPicoUsd: 1n, rateId: 'r', doubt } as const
  expect(priced(price, undefined)).toMatchObject({ pricingStatus: 'legacy_estimated', doubt })
  expect(priced(price, 'client_abort')).toMatchObject({ doubt: 'client_abort' })
})

test.each([1.5, 2 ** 60, -1, Number.NaN])(
  'a count of %p tokens is left out of its row',
  (tokens) => {
    const used = usage({ promptTokens: tokens, output: 20 })
    const row = ledgerRow(call({ usage: used }), usageMissing(), new Date(0), [], undefined)
    expect([row.prompt_tokens, row.completion_tokens]).toEqual([undefined, 20])
  },
)

test('a spooled charge counts on the day of its dispatch, not of its end', () => {
  const dispatchedAt = new Date('2026-03-31T23:59:59Z')
  const row = ledgerRow(
    call({ dispatchedAt }),
    at(5n),
    new Date('2026-04-01T00:00:09Z'),
    ['k'],
    undefined,
  )
  expect(chargeOf(JSON.parse(JSON.stringify(row)))?.day).toBe(utcDay(dispatchedAt))
})
