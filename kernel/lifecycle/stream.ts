import {
  type Family,
  GatewayError,
  type SentResponse,
  type Settlement,
  type StreamEvent,
  type StreamResult,
  streamEvent,
  type Usage,
} from '../plugin/index.ts'
import { createChatStream } from '../wire/chat-stream.ts'
import {
  errorChunk,
  type FamilyStream,
  type StreamFailure,
  sseText,
} from '../wire/family-stream.ts'
import { messagesErrorEvent } from '../wire/messages-error.ts'
import { createMessagesStream } from '../wire/messages-stream.ts'
import { createResponsesStream } from '../wire/responses-stream.ts'
import type { RunningAttempt } from './attempt.ts'
import { errorBody, internalError } from './error-body.ts'
import type { Admitted, LifecycleServices, ReplyStream } from './exchange.ts'
import { breakOff, lastWords, readOut, startDrain } from './read-out.ts'
import { outcomeOf, record } from './record.ts'
import { settle } from './settle.ts'
import { createStreamMeter } from './stream-meter.ts'

/**
 * The caller's side of a streamed reply. Events flow at once; the terminal one waits until the call
 * is settled. When the caller leaves early the upstream is read on, to learn what the call cost.
 * `held`: the events are a whole stream that was held back, with what its upstream counted, which they
 * may not tell any more.
 */
export function replyStream(
  admitted: Admitted,
  attempt: RunningAttempt,
  result: StreamResult,
  services: LifecycleServices,
  held?: { readonly usage: Usage | undefined },
): ReplyStream {
  const upstream = result.events[Symbol.asyncIterator]()
  const family = streamFor(admitted)
  const { watchdog } = attempt
  const { maxResponseBytes } = admitted.provider
  const isMetered = held === undefined && services.accounting.measure !== undefined
  const meter = isMetered
    ? createStreamMeter(admitted, services, result.billingModifiers)
    : undefined
  /** Set when it has used up a hard limit. */
  let overBudget: GatewayError | undefined
  let callerLeft = false
  /** Why the caller was sent an error in the place of the stream. */
  let refused: GatewayError | undefined
  let reading: Promise<string | undefined> | undefined
  /** Set when the upstream is done, one way or the other: the last text, due after settlement. */
  let closing: Promise<string> | undefined
  let ended = false
  const captured: StreamEvent[] = []
  const captureLimit = Math.max(0, ...services.recorders.map((r) => r.streamEventLimit?.() ?? 0))
  let eventCount = 0
  let capturedLength = 0

  /** Notes events as sent, for the recorders, and gives their text. */
  function send(events: readonly StreamEvent[]): string {
    eventCount += events.length
    for (const event of events) {
      if (captured.length >= captureLimit || capturedLength > maxResponseBytes) break
      capturedLength += event.data.length
      // Their text alone: what they were parsed into takes several times as much, for as long as the
      // stream lasts.
      captured.push(streamEvent(event.data, event.event))
    }
    return sseText(events)
  }

  /** What may be sent of a batch of the upstream. */
  function take(batch: readonly StreamEvent[]): StreamEvent[] {
    const events = family.push(batch)
    overBudget ??= meter?.take(batch, family.usage)
    return events
  }

  /** Reads until there is text to send; when the stream closes, it is the last one. */
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
        if (batch.done) family.end()
        else text = send(take(batch.value))
        if (family.outcome === 'open' && family.failure !== undefined) {
          text += send(take(await lastWords(upstream.next())))
          family.end()
        }
        if (family.outcome === 'open' && overBudget !== undefined) {
          watchdog.abort(overBudget)
          text += send(take(await lastWords(upstream.next())))
          if (family.outcome === 'open') closing = close(overBudget)
        }
        if (family.outcome !== 'open') closing = close(family.failure)
        if (text !== '') return text
      }
    } catch (thrown) {
      try {
        if (asked !== undefined) take(await lastWords(asked))
      } catch {
        // They are no batch; the call has failed already.
      }
      closing = close(attempt.containFault(thrown))
    }
    return await last()
  }

  /** Once; undefined when there is no last text. */
  async function last(): Promise<string | undefined> {
    if (ended) return undefined
    ended = true
    return (await closing) || undefined
  }

  async function close(error: GatewayError | StreamFailure | undefined): Promise<string> {
    // A caller that leaves from here on has had its reply.
    const left = callerLeft
    const complete = error === undefined
    const { invokedToolCount } = family
    const stated = error instanceof GatewayError ? error.usage : undefined
    const counted = held?.usage ?? stated ?? family.usage
    const ended = left ? 'client_abort' : error === overBudget ? 'budget_exceeded' : undefined
    let usage = complete || ended === undefined ? counted : counted && { ...counted, doubt: ended }
    meter?.take([], counted)
    const partial = complete ? undefined : meter?.partial(ended ?? 'stream_error')
    const status =
      complete && (refused !== undefined || !left)
        ? 'success'
        : left
          ? 'client_abort'
          : 'stream_error'
    const attempts = [attempt.finish(status, error)]
    releaseUpstream(complete)

    let settlement: Settlement | undefined
    let failure = error
    try {
      // What was ended here has been served.
      const succeeded = complete || ended !== undefined
      const used = { usage, succeeded, modifiers: result.billingModifiers, partial }
      const settled = await settle(admitted, used, services)
      settlement = settled.settlement
      usage = settled.usage
    } catch (thrown) {
      services.fault('settlement failed', thrown, admitted.requestId)
      failure = thrown instanceof GatewayError ? thrown : internalError(thrown)
    }
    const last = failure === undefined ? send(family.terminal) : ''
    const response: SentResponse =
      refused === undefined
        ? { kind: 'stream', events: captured, eventCount, error: failure }
        : { kind: 'buffered', body: errorBody(refused, admitted.requestId, admitted.apiSurface) }
    const told = refused ?? failure
    const aborted = left && refused === undefined
    const outcome = aborted ? 'client_abort' : told === undefined ? 'success' : outcomeOf(told)
    record(
      admitted,
      {
        statusCode: refused?.status ?? 200,
        outcome,
        error: told,
        usage,
        settlement,
        attempts,
        invokedToolCount,
        response,
      },
      services,
    )
    if (failure === undefined) return last
    return 'forwarded' in failure && failure.forwarded ? '' : errorEvent(failure, admitted)
  }

  /** After a complete stream its connection is worth keeping; otherwise the call is broken off. */
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
      // Nobody reads any more but the drain.
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

/** The event that ends a failed stream, in the shape that the caller reads. */
export function errorEvent(
  failure: GatewayError | StreamFailure,
  { apiSurface, requestId }: Admitted,
): string {
  const write = apiSurface === 'messages' ? messagesErrorEvent : errorChunk
  return write(failure, requestId)
}

function streamFor({ family, apiSurface, requestId, model, route }: Admitted): FamilyStream {
  const publicModel = model.id
  if (apiSurface === 'messages') return createMessagesStream({ publicModel, requestId })
  return streamOfFamily(family, publicModel, route.bound.compatShape !== true)
}

/** The events of an upstream for a caller who speaks its family; `converted`: of another one. */
export function streamOfFamily(
  family: Family,
  publicModel: string,
  converted: boolean,
): FamilyStream {
  return family === 'responses'
    ? createResponsesStream({ publicModel })
    : createChatStream({ publicModel, usageAtEnd: converted })
}
