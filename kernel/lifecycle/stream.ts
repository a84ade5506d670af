import {
  type Attempt,
  GatewayError,
  type SentResponse,
  type StreamEvent,
  type StreamFailure,
  streamEvent,
  type Usage,
} from '../plugin/index.ts'
import { readObject, sseText } from '../wire/dialect-stream.ts'
import { close, type Sent } from './close.ts'
import { wireError } from './error-body.ts'
import type { Admitted, LifecycleServices, ReplyStream } from './exchange.ts'
import type { RunningStream } from './execute.ts'
import { breakOff, lastWords, readOut, startDrain } from './read-out.ts'
import { createStreamMeter } from './stream-meter.ts'

/**
 * The caller's side of a streamed reply. Events pass at once; the terminal event waits until the
 * call is settled. If the caller leaves early, the upstream is read on to learn the cost. `held`:
 * the events are a complete stream that was held back, with the upstream's counters, which the
 * events may lack.
 */
export function replyStream(
  admitted: Admitted,
  { attempt, result, told: dialect }: RunningStream,
  earlier: readonly Attempt[],
  services: LifecycleServices,
  held?: { readonly usage: Usage | undefined },
): ReplyStream {
  const upstream = result.events[Symbol.asyncIterator]()
  const { watchdog } = attempt
  const { maxResponseBytes } = admitted.provider
  const isMetered = held === undefined && services.accounting.measure !== undefined
  const meter = isMetered
    ? createStreamMeter(admitted, services, result.billingModifiers)
    : undefined
  /** Set if the stream has used up a hard limit. */
  let overBudget: GatewayError | undefined
  let callerLeft = false
  /** Why the caller got an error instead of a stream. */
  let refused: GatewayError | undefined
  let reading: Promise<string | undefined> | undefined
  /** Set when the upstream is done, successfully or not: the last text, sent after settlement. */
  let closing: Promise<string> | undefined
  let ended = false
  const captured: StreamEvent[] = []
  const captureLimit = Math.max(0, ...services.recorders.map((r) => r.streamEventLimit?.() ?? 0))
  let eventCount = 0
  let capturedLength = 0

  /** Notes events as sent for the recorders and returns their text. */
  function send(events: readonly StreamEvent[]): string {
    eventCount += events.length
    for (const event of events) {
      if (captured.length >= captureLimit || capturedLength > maxResponseBytes) break
      capturedLength += event.data.length
      // Only their text: parsed events take several times the memory for the whole stream.
      captured.push(streamEvent(event.data, event.event))
    }
    return sseText(events)
  }

  /** What to send for a batch of the upstream. */
  function take(batch: readonly StreamEvent[]): StreamEvent[] {
    const events = dialect.push(batch)
    overBudget ??= meter?.take(batch, dialect.usage)
    return events
  }

  /** Reads until there is text to send; if the stream closes, that is the last text. */
  async function read(): Promise<string | undefined> {
    let asked: ReturnType<typeof upstream.next> | undefined
    try {
      while (closing === undefined) {
        asked = upstream.next()
        const batch = await watchdog.guard(asked)
        asked = undefined
        attempt.firstByte()
        watchdog.rest()
        let text = ''
        if (batch.done) dialect.end()
        else text = send(take(batch.value))
        if (dialect.outcome === 'open' && dialect.failure !== undefined) {
          text += send(take(await lastWords(upstream.next())))
          dialect.end()
        }
        if (dialect.outcome === 'open' && overBudget !== undefined) {
          watchdog.abort(overBudget)
          text += send(take(await lastWords(upstream.next())))
          if (dialect.outcome === 'open') closing = finish(overBudget)
        }
        if (dialect.outcome !== 'open') closing = finish(dialect.failure)
        if (text !== '') return text
      }
    } catch (thrown) {
      try {
        if (asked !== undefined) take(await lastWords(asked))
      } catch {
        // Not a valid batch; the call has already failed.
      }
      closing = finish(attempt.containFault(thrown))
    }
    return await last()
  }

  /** Runs once; undefined without last text. */
  async function last(): Promise<string | undefined> {
    if (ended) return undefined
    ended = true
    return (await closing) || undefined
  }

  function finish(error: GatewayError | StreamFailure | undefined): Promise<string> {
    // A caller that leaves after this has received its reply.
    const left = callerLeft
    const complete = error === undefined
    const { invokedToolCount } = dialect
    const stated = error instanceof GatewayError ? error.usage : undefined
    const counted = held?.usage ?? stated ?? dialect.usage
    const ended = left ? 'client_abort' : error === overBudget ? 'budget_exceeded' : undefined
    const usage =
      complete || ended === undefined ? counted : counted && { ...counted, doubt: ended }
    meter?.take([], counted)
    const partial = complete ? undefined : meter?.partial(ended ?? 'stream_error')
    const status =
      complete && (refused !== undefined || !left)
        ? 'success'
        : left
          ? 'client_abort'
          : 'stream_error'
    const attempts = [...earlier, attempt.finish(status, error)]
    releaseUpstream(complete)
    // A stream that ended here counts as served.
    const succeeded = complete || ended !== undefined
    const modifiers = result.billingModifiers
    const spent = { usage, succeeded, modifiers, partial, invokedToolCount }
    return close(
      admitted,
      { attempts, spent, error, said: () => dialect.terminal.map(readObject) },
      (failure) => lastText(failure, left),
      services,
    )
  }

  /** The last text, sent after settlement, and how the stream is recorded. */
  function lastText(
    failure: GatewayError | StreamFailure | undefined,
    left: boolean,
  ): Sent<string> {
    const { requestId, surface } = admitted
    let value = failure === undefined ? send(dialect.terminal) : ''
    const response: SentResponse =
      refused === undefined
        ? { kind: 'stream', events: captured, eventCount, error: failure }
        : { kind: 'buffered', body: wireError(refused, requestId, surface).body }
    if (failure !== undefined && !('forwarded' in failure && failure.forwarded)) {
      value = wireError(failure, requestId, surface, dialect.nextNumber).event
    }
    return {
      value,
      statusCode: refused?.status ?? 200,
      response,
      error: refused ?? failure,
      callerLeft: left && refused === undefined,
    }
  }

  /** Keeps the connection after a complete stream; otherwise aborts the call. */
  function releaseUpstream(complete: boolean) {
    if (!complete) return breakOff(upstream, watchdog)
    readOut(upstream, () => breakOff(upstream, watchdog))
  }

  async function readOn() {
    const drain = startDrain(watchdog, services.accounting)
    await reading
    while (closing === undefined) await read()
    drain.stop()
  }

  return {
    next() {
      if (closing !== undefined) return last()
      // Only the drain reads from now on.
      if (callerLeft) return Promise.resolve(undefined)
      reading = read()
      return reading
    },
    cancel(refusal) {
      if (closing !== undefined || callerLeft) return
      callerLeft = true
      refused = refusal
      void readOn()
    },
  }
}
