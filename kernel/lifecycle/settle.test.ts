import { expect, test } from 'bun:test'
import type { Settlement, SettlementRequest, Usage } from '../plugin/index.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { type Spent, settle } from './settle.ts'

const usage = { uncachedInput: 1, output: 2 } as Usage
const settlement: Settlement = { kind: 'none' }

/** The call that accounting receives. */
async function settled(used: Spent, stream = false) {
  const admitted = {
    requestId: 'r1',
    read: { stream },
    surface: {},
    lease: { runtime: { configVersion: 'v1' } },
    route: { bound: { pricing: { model: 'm' } }, spec: {} },
    executionModel: {},
    provider: {},
  } as unknown as Admitted
  const calls: SettlementRequest[] = []
  const services = {
    accounting: {
      async settle(call: SettlementRequest) {
        calls.push(call)
        return settlement
      },
    },
  } as unknown as LifecycleServices
  const { settlement: outcome, usage } = await settle(admitted, used, services)
  expect(outcome).toBe(settlement)
  expect(calls[0]?.usage).toBe(usage)
  return calls[0]
}

test('a successful call has the reported counters', async () => {
  const call = await settled({ usage, succeeded: true, modifiers: ['fast'] })
  expect(call).toMatchObject({ succeeded: true, billingModifiers: ['fast'], configVersion: 'v1' })
  expect(call?.usage).toBe(usage)
})

test.each([
  [false, 'provider_error'],
  [true, 'stream_error'],
])('those of one that failed are doubted, streamed: %p', async (stream, doubt) => {
  const call = await settled({ usage, succeeded: false }, stream)
  expect(call).toMatchObject({
    succeeded: false,
    billingModifiers: [],
    usage: { output: 2, doubt },
  })
  const own = { usage: { ...usage, doubt: 'client_abort' }, succeeded: false }
  expect(await settled(own, stream)).toMatchObject({ usage: { doubt: 'client_abort' } })
  expect((await settled({ usage: undefined, succeeded: false }, stream))?.usage).toBeUndefined()
})
