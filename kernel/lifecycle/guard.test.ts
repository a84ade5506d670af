import { expect, test } from 'bun:test'
import { GatewayError, type GuardPolicy } from '../plugin/index.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { guardPrompt } from './guard.ts'

const denies: Pick<GuardPolicy, 'covers' | 'inspect'> = {
  covers: () => true,
  inspect: async () => ({
    action: 'deny',
    decisionId: 'd1',
    reasonCode: 'keyword',
    message: 'denied',
  }),
}

test('a denied prompt is not logged, even when the store fails at the same moment', async () => {
  const admitted = {
    requestId: 'r1',
    lease: { runtime: { configVersion: 'v1' } },
    route: { guard: denies, bound: { pricing: {} }, spec: {} },
    call: { body: { messages: [{ role: 'user', content: 'raw words' }] } },
    executionModel: {},
    provider: {},
  } as unknown as Admitted
  const services = {
    accounting: {
      settle: async () => Promise.reject(new GatewayError('store_unavailable', 'away')),
    },
  } as unknown as LifecycleServices
  let logged: unknown
  const guarded = guardPrompt(admitted, services, ({ loggedBody }) => {
    logged = loggedBody
  })
  expect(await guarded.catch((error) => error.code)).toBe('store_unavailable')
  expect(logged).toEqual({ guardrail_denied: true, decision_id: 'd1' })
})
