import { expect, test } from 'bun:test'
import type { AccountingSink, SettledCall, SettlementRequest } from 'model-gateway/accounting'
import { createSinks, type SinkFailure } from './sinks.ts'

const call: SettlementRequest = {
  requestId: 'r',
  callerChoseRequestId: false,
  principal: {
    apiKeyId: 'k',
    owner: {
      kind: 'user',
      userId: 'u',
      email: 'a@b.c',
      name: 'A',
      team: { id: 't', key: 'team' },
      requestLoggingEnabled: true,
    },
    ownershipScopeKey: 'user:u',
    grants: 'all',
    allowlists: [],
  },
  operation: 'chat_completions',
  requestedModel: 'm',
  resolvedModel: 'm',
  provider: 'p',
  upstreamModel: 'x',
  dispatchedAt: new Date(0),
  pricing: { pricingProviderId: 'p', model: 'x' },
  configVersion: 'v1',
  usage: undefined,
  billingModifiers: ['batch'],
  succeeded: true,
}
const paid = {
  kind: 'ledger',
  pricingStatus: 'priced',
  unpricedReason: undefined,
  costPicoUsd: 5n,
} as const

function sinksOf(record: AccountingSink['record'], mostWaiting = 100, deadlineMs = 50) {
  const failures: SinkFailure[] = []
  const sinks = createSinks([{ plugin: 'plugin.a', implementation: { record } }], {
    deadlineMs,
    mostWaiting,
    failed: (_, failure) => void failures.push(failure),
  })
  return { sinks, failures }
}

test('a sink receives frozen copies later, and none for calls without cost', async () => {
  const told: SettledCall[] = []
  const { sinks, failures } = sinksOf(async (seen) => void told.push(seen))
  sinks.push(call, paid)
  sinks.push(call, { kind: 'none' })
  expect(told).toEqual([])
  await sinks.drain(1000)
  expect(told).toHaveLength(1)
  const [seen] = told as [SettledCall]
  expect(seen).toMatchObject({ requestId: 'r', dispatchedAt: '1970-01-01T00:00:00.000Z' })
  expect(Object.keys(seen)).not.toContain('principal')
  for (const part of [seen, seen.caller, seen.caller.owner, seen.caller.owner.team, seen.pricing]) {
    expect(Object.isFrozen(part)).toBe(true)
  }
  expect(seen.caller.owner).not.toBe(call.principal.owner)
  expect(failures).toEqual([])
})

test('the pricing identity may be a class instance', async () => {
  const told: unknown[] = []
  const { sinks } = sinksOf(async (seen) => void told.push(seen.pricing))
  class Pricing {
    readonly pricingProviderId = 'p'
    get model() {
      return 'x'
    }
    get unpriceable() {
      return 'unsupported_location' as const
    }
  }
  sinks.push({ ...call, pricing: new Pricing() }, paid)
  await sinks.drain(1000)
  const [seen] = told
  expect(seen).toEqual({
    pricingProviderId: 'p',
    model: 'x',
    unpriceable: 'unsupported_location',
  })
})

test('a call that throws or hangs is counted, and the next one is delivered', async () => {
  let calls = 0
  const { sinks, failures } = sinksOf(() => {
    calls++
    if (calls === 1) throw new Error('planted')
    return calls === 2 ? new Promise(() => {}) : Promise.resolve()
  })
  for (let i = 0; i < 3; i++) sinks.push(call, paid)
  await sinks.drain(1000)
  expect(calls).toBe(3)
  expect(failures.toSorted()).toEqual(['overdue', 'threw'])
})

test('sixteen calls at a time, a bounded queue, and a shutdown', async () => {
  let running = 0
  let most = 0
  const { sinks, failures } = sinksOf(
    async () => {
      most = Math.max(most, ++running)
      await Bun.sleep(10)
      running--
    },
    40,
    1000,
  )
  for (let i = 0; i < 100; i++) sinks.push(call, paid)
  expect(failures).toHaveLength(60)
  await sinks.drain(1000)
  expect(failures).toHaveLength(60)
  expect(most).toBe(16)
  expect(running).toBe(0)
})

test('at shutdown, running and waiting calls are reported once', async () => {
  let calls = 0
  const end = Promise.withResolvers<void>()
  const { sinks, failures } = sinksOf(
    () => {
      calls++
      return calls % 2 === 0 ? end.promise : new Promise(() => {})
    },
    100,
    500,
  )
  for (let i = 0; i < 20; i++) sinks.push(call, paid)
  await Bun.sleep(5)
  await sinks.drain(20)
  const told = [...Array(16).fill('overdue'), ...Array(4).fill('dropped')]
  expect(failures).toEqual(told)
  end.reject(new Error('too late'))
  await Bun.sleep(600)
  expect(failures).toEqual(told)
  expect(calls).toBe(16)
})

test('a call that fails after its deadline is reported once', async () => {
  const end = Promise.withResolvers<void>()
  const { sinks, failures } = sinksOf(() => end.promise, 100, 5)
  sinks.push(call, paid)
  while (failures.length === 0) await Bun.sleep(1)
  end.reject(new Error('too late'))
  await sinks.drain(1000)
  expect(failures).toEqual(['overdue'])
})
