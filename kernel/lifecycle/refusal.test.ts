import { expect, test } from 'bun:test'
import { speaking } from '../../test/harness/surfaces.ts'
import { type Dialect, GatewayError, GuardDenial } from '../plugin/index.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { refusalOf } from './refusal.ts'

const verdict = { action: 'deny', decisionId: 'd1', reasonCode: 'x', message: 'denied' } as const
const denial = new GuardDenial({ ...verdict, refusal: 'No.' })

/** The refusal for callers of a route, and the faults for the operator. */
function told(error: unknown, ways: Partial<Admitted['way']>, stream = false) {
  const faults: unknown[] = []
  const services = { fault: (...fault: unknown[]) => faults.push(fault) }
  const spoken = speaking('chat_completions')
  const exchange = {
    ...spoken,
    way: { ...spoken.way, ...ways },
    requestId: 'r1',
    dispatchedAt: new Date(),
    model: { id: 'm' },
    read: { stream },
    route: { bound: {} },
  } as unknown as Admitted
  const refusal = refusalOf(exchange, error, undefined, services as unknown as LifecycleServices)
  return { refusal, faults }
}

const dialect = (refusal?: Dialect['refusal']) =>
  ({ ...speaking('chat_completions').way.dialect, refusal }) as Dialect

test('only a denial with a refusal text is sent as a turn', () => {
  const speaks = { dialect: dialect((text) => ({ text })) }
  expect(told(denial, speaks).refusal?.body).toEqual({ text: 'No.' })
  for (const error of [new GuardDenial(verdict), new GatewayError('internal_error', 'x')]) {
    expect(told(error, speaks)).toEqual({ refusal: undefined, faults: [] })
  }
})

test('a dialect without a refusal, and one that fails, leave the error', () => {
  expect(told(denial, { dialect: dialect() })).toEqual({ refusal: undefined, faults: [] })
  const fails = dialect(() => {
    throw new Error('no words')
  })
  const { refusal, faults } = told(denial, { dialect: fails })
  expect(refusal).toBeUndefined()
  expect(faults).toEqual([['a refusal could not be sent', new Error('no words'), 'r1']])
})

test('the callers’ own dialect is spoken where it can, else that of the route is converted', () => {
  const conversion = { reply: (reply: object) => ({ converted: reply }) } as never
  const route = { dialect: dialect(() => ({ route: true })), conversion }
  expect(told(denial, route).refusal?.body).toEqual({ converted: { route: true } })
  const spoken = dialect(() => ({ own: true }))
  expect(told(denial, { ...route, spoken }).refusal?.body).toEqual({ own: true })
})
