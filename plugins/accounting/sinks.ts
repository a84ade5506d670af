import type {
  AccountingSink,
  CommittedSettlement,
  SettledCall,
  Settlement,
  SettlementRequest,
} from 'model-gateway/accounting'
import type { Principal } from 'model-gateway/identity'
import type { Caller } from 'model-gateway/middleware'
import { inTime, type PluginContext } from 'model-gateway/plugin'

const DEADLINE_MS = 10_000
const MOST_WAITING = 10_000
/** Time at shutdown in which sinks may receive the remaining calls. */
const DRAIN_MS = 5_000
/** Period in which failures of one sink share a log line. */
const SAY_AGAIN_MS = 10_000

/** Passes settled calls to accounting sinks, off the request path. */
export interface Sinks {
  /** Returns at once. */
  push(call: SettlementRequest, settlement: Settlement): void
  /** Resolves when every sink has received everything, or after `ms`. */
  drain(ms?: number): Promise<void>
}

/** A sink and the id of its plugin. */
export interface NamedSink {
  readonly plugin: string
  readonly implementation: AccountingSink
}

export type SinkFailure = 'threw' | 'overdue' | 'dropped'

export interface SinkTools {
  /** Milliseconds for one call of a sink. */
  readonly deadlineMs: number
  /** Maximum queue length of one sink; further calls are dropped. */
  readonly mostWaiting: number
  /** Called for each call that a sink failed on or did not receive. */
  failed(plugin: string, failure: SinkFailure, error: unknown): void
}

/** Calls of one sink at the same time. */
const AT_ONCE = 16

type Told = readonly [SettledCall, CommittedSettlement]

/** Counts the failures of each sink, and logs them. */
export function createSinkTools({
  meter,
  log,
}: Pick<PluginContext<unknown, never>, 'meter' | 'log'>): SinkTools {
  const failures = meter.createCounter('gateway.accounting_sink.failures', {
    description: 'Settled calls that an accounting sink failed on or did not receive.',
  })
  const said = new Map<string, { at: number; unsaid: number }>()
  return {
    deadlineMs: DEADLINE_MS,
    mostWaiting: MOST_WAITING,
    failed(plugin, failure, err) {
      failures.add(1, { plugin, failure })
      const last = said.get(plugin) ?? { at: Number.NEGATIVE_INFINITY, unsaid: 0 }
      const now = performance.now()
      if (now - last.at < SAY_AGAIN_MS) {
        last.unsaid++
        return
      }
      said.set(plugin, { at: now, unsaid: 0 })
      log.error({ sink: plugin, failure, err, before: last.unsaid }, 'an accounting sink failed')
    },
  }
}

export function createSinks(named: readonly NamedSink[], tools: SinkTools): Sinks {
  const queues = named.map((one) => createQueue(one, tools))
  return {
    push(call, settlement) {
      if (settlement.kind === 'none' || queues.length === 0) return
      const told: Told = [settledCall(call), Object.freeze({ ...settlement })]
      for (const queue of queues) queue.push(told)
    },
    async drain(ms = DRAIN_MS) {
      await Promise.all(queues.map((queue) => queue.drain(ms)))
    },
  }
}

function createQueue({ plugin, implementation: sink }: NamedSink, tools: SinkTools) {
  const waiting: Told[] = []
  let running = 0
  let scheduled = false
  /** Draining has timed out; unfinished calls were reported as failures. */
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
        tools.failed(plugin, 'dropped', new Error(`the queue is full (${tools.mostWaiting} calls)`))
        return
      }
      waiting.push(told)
      if (scheduled) return
      scheduled = true
      // Deferred, so that the request's turn of the event loop does not run it.
      setImmediate(run)
    },
    async drain(ms: number) {
      if (running === 0 && waiting.length === 0) return
      await inTime(new Promise<void>((resolve) => idle.add(resolve)), ms)
      left = true
      const error = new Error('the gateway shut down first')
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

/** A frozen copy, independent of the identity plugin's objects. */
function copyCaller({ apiKeyId, owner, ownershipScopeKey }: Principal): Caller {
  const team = owner.team && Object.freeze({ ...owner.team })
  const copy = Object.freeze({ ...owner, team }) as Principal['owner']
  return Object.freeze({ apiKeyId, owner: copy, ownershipScopeKey })
}
