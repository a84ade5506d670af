import {
  type AccountingSink,
  type CommittedSettlement,
  inTime,
  type SettledCall,
  type Settlement,
  type SettlementRequest,
} from '../plugin/index.ts'
import { copyCaller } from './seams.ts'

/** Tells accounting sinks of what has been settled, off the request path. */
export interface Sinks {
  /** Returns at once. */
  push(call: SettlementRequest, settlement: Settlement): void
  /** Resolves when every sink has been told of everything, or when the time is over. */
  drain(ms: number): Promise<void>
}

/** A sink with the plugin that brings it. */
export interface NamedSink {
  readonly plugin: string
  readonly sink: AccountingSink
}

export type SinkFailure = 'threw' | 'overdue' | 'dropped'

export interface SinkTools {
  /** Milliseconds for one call of a sink. */
  readonly deadlineMs: number
  /** Calls that wait for one sink; what comes on top is dropped. */
  readonly mostWaiting: number
  /** Told of each call that a sink was not told of, or failed at. */
  failed(plugin: string, failure: SinkFailure, error: unknown): void
}

/** Calls of one sink at the same time. */
const AT_ONCE = 16

type Told = readonly [SettledCall, CommittedSettlement]

export function createSinks(named: readonly NamedSink[], tools: SinkTools): Sinks | undefined {
  if (named.length === 0) return undefined
  const queues = named.map((one) => createQueue(one, tools))
  return {
    push(call, settlement) {
      if (settlement.kind === 'none') return
      const told: Told = [settledCall(call), Object.freeze({ ...settlement })]
      for (const queue of queues) queue.push(told)
    },
    async drain(ms) {
      await Promise.all(queues.map((queue) => queue.drain(ms)))
    },
  }
}

function createQueue({ plugin, sink }: NamedSink, tools: SinkTools) {
  const waiting: Told[] = []
  let running = 0
  let scheduled = false
  /** Nobody waits for it any more; what it was still at has been told. */
  let left = false
  const idle = new Set<() => void>()

  async function tell([call, settlement]: Told) {
    const told = (async () => sink.record(call, settlement))()
    try {
      const done = await inTime(told, tools.deadlineMs)
      if (done !== undefined || left) return
      tools.failed(plugin, 'overdue', new Error(`did not finish within ${tools.deadlineMs} ms`))
    } catch (error) {
      if (!left) tools.failed(plugin, 'threw', error)
    }
  }

  function run() {
    scheduled = false
    while (running < AT_ONCE) {
      const next = waiting.shift()
      if (next === undefined) break
      running++
      void tell(next).then(() => {
        running--
        run()
      })
    }
    if (running === 0 && waiting.length === 0) for (const done of idle) done()
  }

  return {
    push(told: Told) {
      if (waiting.length >= tools.mostWaiting) {
        tools.failed(plugin, 'dropped', new Error(`${tools.mostWaiting} calls wait already`))
        return
      }
      waiting.push(told)
      if (scheduled) return
      scheduled = true
      // Not in the request's own turn.
      setImmediate(run)
    },
    async drain(ms: number) {
      if (running === 0 && waiting.length === 0) return
      await inTime(new Promise<void>((resolve) => idle.add(resolve)), ms)
      left = true
      const error = new Error('the gateway ended first')
      for (let call = 0; call < running; call++) tools.failed(plugin, 'overdue', error)
      for (const _ of waiting.splice(0)) tools.failed(plugin, 'dropped', error)
    },
  }
}

function settledCall(call: SettlementRequest): SettledCall {
  const { principal, callerChoseRequestId: _, usage, pricing, billingModifiers, ...rest } = call
  const { pricingProviderId, model, unpriceable } = pricing
  return Object.freeze({
    ...rest,
    caller: copyCaller(principal),
    pricing: Object.freeze({ pricingProviderId, model, ...(unpriceable && { unpriceable }) }),
    usage: usage && Object.freeze({ ...usage }),
    billingModifiers: Object.freeze([...billingModifiers]),
    dispatchedAt: call.dispatchedAt.toISOString(),
  })
}
