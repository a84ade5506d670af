import { createHash } from 'node:crypto'
import { type Clock, GatewayError, type JsonObject } from 'model-gateway/plugin'
import { type Execute, type ProviderCall, upstreamHttpError } from 'model-gateway/provider'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import type { Config, Fault } from './config.ts'

/** Makes replies with the same content distinct. */
export interface Identity {
  /** Suffix of ids, derived from the request id. */
  readonly suffix: string
  /** Unix time in seconds. */
  readonly created: number
  readonly model: string
}

/** A parsed request and its reply. */
export interface Simulation {
  /** The text that faults are matched against. */
  readonly text: string
  buffered(identity: Identity): JsonObject
  /** Absent for APIs that do not stream. */
  events?(identity: Identity): Iterable<StreamEvent>
}

/** An executor that answers from `simulate`, with the configured latency and faults. */
export function simulatedExecutor(
  simulate: (body: JsonObject) => Simulation,
  model: string,
  config: Config,
  clock: Clock,
): Execute {
  const { latency_ms: latencyMs = 0, faults = [] } = config
  return async (call) => {
    const simulation = simulate(call.body)
    const fault = faults.find(({ match }) => simulation.text.includes(match))
    if (latencyMs > 0) await silence(call.signal, latencyMs)
    if (fault?.kind === 'timeout') await silence(call.signal)
    if (fault?.kind === 'error_status') {
      throw upstreamHttpError(fault.status ?? 500, `simulated fault: ${fault.match}`)
    }
    call.alive()
    const identity = {
      suffix: createHash('sha256').update(call.requestId).digest('hex').slice(0, 24),
      created: Math.floor(clock.now().getTime() / 1000),
      model,
    }
    const events = call.stream ? simulation.events?.(identity) : undefined
    if (events !== undefined) return { kind: 'stream', events: play(events, call, fault) }
    const body = simulation.buffered(identity)
    if (fault?.kind === 'missing_usage')
      return { kind: 'buffered', body: { ...body, usage: undefined } }
    if (fault !== undefined) throw brokenOff()
    return { kind: 'buffered', body }
  }
}

/** Events before a stream fault. */
const BEFORE_FAULT = 3

async function* play(
  events: Iterable<StreamEvent>,
  call: ProviderCall,
  fault: Fault | undefined,
): AsyncGenerator<readonly StreamEvent[]> {
  let count = 0
  for (const event of events) {
    call.signal.throwIfAborted()
    if (count++ === BEFORE_FAULT) {
      if (fault?.kind === 'reset_mid_stream') throw brokenOff()
      if (fault?.kind === 'malformed_stream') {
        yield [streamEvent('{"choices":')]
        return
      }
    }
    call.alive()
    yield [fault?.kind === 'missing_usage' ? withoutUsage(event) : event]
  }
}

function withoutUsage(event: StreamEvent): StreamEvent {
  if (event.data === '[DONE]') return event
  const data = event.json() as JsonObject
  const response = data.response as JsonObject | undefined
  return streamEvent(
    JSON.stringify({
      ...data,
      usage: undefined,
      ...(response === undefined ? {} : { response: { ...response, usage: null } }),
    }),
    event.event,
  )
}

function brokenOff(): GatewayError {
  return new GatewayError('upstream_transport', 'simulated fault: the stream broke off')
}

/** Waits, forever without `ms`; rejects with the signal's reason when it aborts. */
function silence(signal: AbortSignal, ms?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const timer = ms === undefined ? undefined : setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
    function end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
  })
}
