import { expect, test } from 'bun:test'
import { createMcpObservation } from './observe.ts'

const CALLERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OWN = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
const fail = (what: string) => () => {
  throw new Error(what)
}

test('observers are notified of a request; an error of one affects neither it nor the others', () => {
  const faults: string[] = []
  const outcomes: unknown[] = []
  const observe = createMcpObservation(
    [
      { observe: fail('at the door') },
      { observe: () => ({ traceparent: 'nonsense', finished: fail('at the end') }) },
      { observe: () => undefined },
      {
        observe: () => ({ traceparent: OWN, finished: (outcome) => void outcomes.push(outcome) }),
      },
    ],
    (error) => void faults.push((error as Error).message),
  )
  const request = {
    requestId: 'r',
    method: 'POST',
    receivedAt: new Date(),
    header: () => CALLERS,
  }
  const { traceparent, finished } = observe(request)
  finished({ statusCode: 200 })
  expect(traceparent).toBe(OWN)
  expect(outcomes).toEqual([{ statusCode: 200 }])
  expect(faults).toEqual(['at the door', '"nonsense" is not a valid traceparent', 'at the end'])
  expect(createMcpObservation([], () => {})(request).traceparent).toBe(CALLERS)
})
