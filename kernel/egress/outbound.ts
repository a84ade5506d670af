import { inTime, type Outbound, OutboundError } from '../plugin/index.ts'
import { createGate, type Gate } from './gate.ts'

/** The gate as plugins have it: for URLs that nobody vouches for, and with the time kept. */
export function createOutbound(gate: Gate = createGate()): Outbound {
  return {
    check: gate.check,
    async fetch(url, { headersTimeoutMs, signal, ...call }) {
      if (headersTimeoutMs === undefined) return await gate.send(url, { ...call, signal })
      const ends = new AbortController()
      // The body of the reply ends with the caller, too.
      const either = AbortSignal.any([signal, ends.signal])
      const reply = await inTime(gate.send(url, { ...call, signal: either }), headersTimeoutMs)
      if (reply !== undefined) return reply.value
      const late = new OutboundError('timeout', 'the server did not answer in time')
      ends.abort(late)
      throw late
    },
  }
}
