import { inTime, type Outbound, OutboundError } from '../plugin/index.ts'
import { createGate, type Gate } from './gate.ts'

/** The gate for plugins: for URLs that are not from the operator, with a timeout. */
export function createOutbound(gate: Gate = createGate()): Outbound {
  return {
    check: gate.check,
    async fetch(url, { headersTimeoutMs, signal, ...call }) {
      if (headersTimeoutMs === undefined) return await gate.send(url, { ...call, signal })
      const ends = new AbortController()
      // The body of the reply also ends when the caller aborts.
      const either = AbortSignal.any([signal, ends.signal])
      const reply = await inTime(gate.send(url, { ...call, signal: either }), headersTimeoutMs)
      if (reply !== undefined) return reply.value
      const late = new OutboundError('timeout', 'the server did not answer in time')
      ends.abort(late)
      throw late
    },
  }
}
