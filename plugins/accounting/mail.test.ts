import { expect, test } from 'bun:test'
import type { Alert } from './alert-store.ts'
import { alertMail } from './mail.ts'

const alert: Alert = {
  alertId: 'a1',
  budgetId: 'b1',
  scopeKey: 'budget:v1:user:u1',
  scope: { kind: 'user', userId: 'u1' },
  settings: { cadence: 'daily', amountPicoUsd: 5_000_000_000_000n, hardLimit: true },
  window: { start: 20_000, end: 20_001 },
  thresholdPercent: 20,
  spent: 1_000_000_000_000n,
  remaining: -3_500_000_000_000n,
  createdAt: new Date('2024-10-04T12:00:00Z'),
}

const amounts = (changes: Partial<Alert>) =>
  alertMail(
    { ...alert, ...changes },
    { users: [], serviceAccounts: [] },
    {
      deliveryId: 'd1',
      recipient: 'u1@example.test',
    },
  )
    .text.split('\n')
    .filter((line) => /^(Spend|Rejected|Remaining):/.test(line))

test('an email names the rejected charges that used the budget up', () => {
  expect(amounts({})).toEqual([
    'Spend:      1 USD',
    'Rejected:   7.5 USD (calls that were served, and not charged because of the hard limit)',
    'Remaining:  0 USD',
  ])
  expect(amounts({ remaining: 4_000_000_000_000n })).toEqual([
    'Spend:      1 USD',
    'Remaining:  4 USD',
  ])
})
