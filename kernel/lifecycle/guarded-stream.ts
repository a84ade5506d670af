import {
  type Attempt,
  type DialectStream,
  type DialectStreaming,
  GatewayError,
  inTime,
  type JsonObject,
  type StreamEvent,
  streamEvent,
  type Usage,
} from '../plugin/index.ts'
import { readObject } from '../wire/dialect-stream.ts'
import { repeatsKey } from '../wire/json-keys.ts'
import type { RunningAttempt } from './attempt.ts'
import { close, type Ending, type Sent } from './close.ts'
import { internalError, wireError } from './error-body.ts'
import type { Admitted, LifecycleServices, ReplyStream } from './exchange.ts'
import { openStream, type RunningStream } from './execute.ts'
import { asGatewayError } from './fault.ts'
import { guardReply } from './guard.ts'
import { breakOff, lastWords, readOut, startDrain } from './read-out.ts'
import { refusalOf } from './refusal.ts'
import { replyStream } from './stream.ts'
import { createStreamMeter, type StreamMeter } from './stream-meter.ts'
import { createWatchdog } from './watchdog.ts'

/** How long the headers wait for a decision; then the stream starts with comments. */
const PATIENCE_MS = 15_000
/** Errors with which the gateway itself ends a stream. */
const ENDED_HERE: ReadonlySet<string> = new Set(['guarded_response_too_large', 'budget_exceeded'])
const KEEP_ALIVE = ': the reply is being checked\n\n'

/** A permitted stream, or the outcome of one that was not. */
export type Held = { readonly stream: ReplyStream } | { readonly ending: Ending }

/**
 * Holds a streamed reply back until a guard has checked all of it. Resolves to the stream if it may
 * pass, or to its outcome if not. If the decision takes long, resolves to a stream of comments that
 * keep the connection open; a later failure becomes its only error event.
 */
export async function guardedStream(
  admitted: Admitted,
  running: RunningStream,
  earlier: readonly Attempt[],
  services: LifecycleServices,
): Promise<Held> {
  const decision = decide(admitted, running, earlier, services)
  return (
    (await inTime(decision, PATIENCE_MS))?.value ?? {
      stream: waitingStream(decision, admitted.surface.keepAlive ?? KEEP_ALIVE, (ending) =>
        lateError(admitted, running, ending, services),
      ),
    }
  )
}

/** Reads the whole stream and has the guard check it. Never rejects. */
async function decide(
  admitted: Admitted,
  running: RunningStream,
  earlier: readonly Attempt[],
  services: LifecycleServices,
): Promise<Held> {
  const { attempt, result } = running
  const modifiers = result.billingModifiers
  const stream = openStream(admitted, true)
  const caller = admitted.callerLeft()
  let drain: ReturnType<typeof startDrain> | undefined
  const leave = () => {
    drain = startDrain(attempt.watchdog, services.accounting)
  }
  if (caller.aborted) leave()
  else caller.addEventListener('abort', leave)
  const upstream = result.events[Symbol.asyncIterator]()
  const meter = createStreamMeter(admitted, services, modifiers)
  let collected: Collected
  try {
    collected = await collect(admitted, attempt, upstream, stream, meter)
  } catch (thrown) {
    const error = attempt.containFault(thrown)
    attempt.watchdog.abort(error)
    breakOff(upstream, attempt.watchdog)
    const status = drain !== undefined ? 'client_abort' : 'stream_error'
    // A stream that the gateway cut off counts as served and is charged.
    const succeeded = status === 'client_abort' || ENDED_HERE.has(error.code)
    const doubt = drain === undefined && succeeded ? error.code : status
    const counted = error.usage ?? stream.usage
    const usage = counted && { ...counted, doubt: counted.doubt ?? doubt }
    meter.take([], counted)
    const { invokedToolCount } = stream
    const partial = meter.partial(doubt)
    const spent = { usage, succeeded, modifiers, invokedToolCount, partial }
    return { ending: { attempts: [...earlier, attempt.finish(status, error)], spent, error } }
  } finally {
    caller.removeEventListener('abort', leave)
    drain?.stop()
  }
  const { batches, body, usage } = collected
  let passed: JsonObject
  try {
    passed = await guardReply(admitted, { kind: 'buffered', body })
  } catch (thrown) {
    // The upstream call is complete.
    const { invokedToolCount } = stream
    const spent = { usage, succeeded: true, modifiers, invokedToolCount }
    const error = asGatewayError(thrown, admitted.requestId, services)
    return { ending: { attempts: [...earlier, attempt.finish('success')], spent, error } }
  }
  const told = passed === body ? batches : [streamingOf(admitted).tell(passed)]
  // The provider is no longer needed; its call may be aborted while the events are replayed.
  attempt.watchdog.stop()
  const watchdog = createWatchdog(admitted.provider.timeouts)
  watchdog.stop()
  const replayed = {
    ...running,
    attempt: { ...attempt, watchdog },
    result: { ...result, events: replay(told) },
  }
  return { stream: replyStream(admitted, replayed, earlier, services, { usage }) }
}

/** The error event or refusal text for a stream that started with comments. */
function lateError(
  admitted: Admitted,
  { result }: RunningStream,
  ending: Ending,
  services: LifecycleServices,
): Promise<string> {
  const { requestId, surface } = admitted
  const send = (failure: Ending['error'], usage: Usage | undefined): Sent<string> => {
    const error = failure ?? internalError(undefined)
    const refusal = refusalOf(admitted, error, usage, services, result.usageUnasked)
    const { event, body } = wireError(error, requestId, surface)
    return {
      value: refusal?.text ?? event,
      statusCode: 200,
      response: { kind: 'buffered', body: refusal?.body ?? body },
      error,
      callerLeft: admitted.callerLeft().aborted,
    }
  }
  return close(admitted, ending, send, services)
}

function streamingOf({ way }: Admitted): DialectStreaming {
  const { streaming, id } = way.dialect
  if (streaming === undefined) throw new Error(`replies of the dialect ${id} are not streamed`)
  return streaming
}

interface Collected {
  /** Events as received. */
  readonly batches: readonly (readonly StreamEvent[])[]
  /** The buffered reply that the events describe. */
  readonly body: JsonObject
  readonly usage: Usage | undefined
}

/** Throws GatewayError for a stream that fails or is too large. */
async function collect(
  admitted: Admitted,
  { watchdog, firstByte }: RunningAttempt,
  upstream: AsyncIterator<readonly StreamEvent[]>,
  stream: DialectStream,
  meter: StreamMeter,
): Promise<Collected> {
  const batches: (readonly StreamEvent[])[] = []
  const events: StreamEvent[] = []
  const most = admitted.route.guard?.streamBufferBytes ?? 0
  let size = 0
  let asked: ReturnType<typeof upstream.next> | undefined
  let overBudget: GatewayError | undefined
  const take = (batch: readonly StreamEvent[]) => {
    const checked = stream.push(batch)
    overBudget ??= meter.take(batch, stream.usage)
    return checked
  }
  try {
    while (stream.outcome === 'open' && stream.failure === undefined) {
      asked = upstream.next()
      const batch = await watchdog.guard(asked)
      asked = undefined
      firstByte()
      watchdog.rest()
      if (batch.done) {
        stream.end()
        break
      }
      const checked = take(batch.value)
      for (const { raw, data } of batch.value) size += Buffer.byteLength(raw ?? data)
      if (size > most) throw tooLarge(most)
      if (overBudget !== undefined && stream.outcome === 'open') throw overBudget
      batches.push(batch.value.map(unambiguous))
      events.push(...checked)
    }
    if (stream.outcome === 'open' && stream.failure !== undefined) {
      take(await lastWords(upstream.next()))
      stream.end()
    }
  } catch (thrown) {
    if (thrown instanceof GatewayError) {
      watchdog.abort(thrown)
      take(await lastWords(asked ?? upstream.next()))
    }
    throw thrown
  }
  const { failure, usage, terminal } = stream
  if (failure !== undefined) {
    const { code, type, param, message } = failure
    const upstream = { code: code === 'upstream_transport' ? undefined : code, type, param }
    throw new GatewayError('upstream_transport', message, { upstream })
  }
  readOut(upstream, () => breakOff(upstream, watchdog))
  events.push(...terminal)
  return { batches, body: streamingOf(admitted).collect(events), usage }
}

/** With a duplicate key, clients may read another value than the guard did. */
function unambiguous(event: StreamEvent): StreamEvent {
  const value = readObject(event)
  if (value === undefined || !repeatsKey(event.data, 0, value)) return event
  return streamEvent(JSON.stringify(value), event.event)
}

async function* replay(batches: readonly (readonly StreamEvent[])[]) {
  yield* batches
}

/** Sends comments until the decision, then its result. */
function waitingStream(
  decision: Promise<Held>,
  sign: string,
  late: (ending: Ending) => Promise<string>,
): ReplyStream {
  let stream: ReplyStream | undefined
  let left: { readonly refusal: GatewayError | undefined } | undefined
  let failed: string | undefined
  const decided = decision.then(async (held) => {
    if ('ending' in held) {
      failed = await late(held.ending)
      return
    }
    stream = held.stream
    if (left !== undefined) stream.cancel(left.refusal)
  })
  let begun = false
  let over = false
  return {
    async next() {
      if (over) return undefined
      if (stream === undefined && failed === undefined) {
        // The first comment also sends the headers.
        const [patience, text] = begun ? [PATIENCE_MS, sign] : [0, KEEP_ALIVE]
        begun = true
        if ((await inTime(decided, patience)) === undefined) return text
      }
      if (stream !== undefined) return await stream.next()
      over = true
      return failed
    },
    cancel(refusal) {
      left = { refusal }
      stream?.cancel(refusal)
    },
  }
}

function tooLarge(bytes: number): GatewayError {
  return new GatewayError(
    'guarded_response_too_large',
    `the reply is larger than the ${bytes} bytes that guardrails can judge`,
  )
}
