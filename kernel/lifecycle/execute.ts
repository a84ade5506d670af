import { inTime } from '../plugin/in-time.ts'
import type {
  Attempt,
  BufferedResult,
  DialectStream,
  GatewayError,
  ReplyFacts,
  StreamFailure,
  StreamResult,
} from '../plugin/index.ts'
import type { Route } from '../routing/catalog.ts'
import { beginAttempt, type RunningAttempt } from './attempt.ts'
import { type Admitted, type LifecycleServices, Refusal } from './exchange.ts'
import { asGatewayError } from './fault.ts'
import { guardPrompt } from './guard.ts'
import { executeStep } from './seams.ts'
import { nothing, type Spent } from './settle.ts'
import { nothingHeard } from './upstream-headers.ts'

/** The outcome of a call: a reply, a started stream, or an error. */
export interface Outcome {
  /** The request on the route that was called last, or that would have been called. */
  readonly exchange: Admitted
  /** Finished attempts, in order. */
  readonly attempts: readonly Attempt[]
  /** The usage to be charged, as far as known. */
  readonly spent: Spent
  /** Why the caller gets an error, even if a reply exists. */
  readonly error: GatewayError | undefined
  readonly reply?: BufferedResult
  /** Set if the reply itself reports a failure. */
  readonly failure?: StreamFailure | undefined
  readonly stream?: RunningStream
}

export interface RunningStream {
  readonly attempt: RunningAttempt
  readonly result: StreamResult
  /** The events for the caller. */
  readonly told: DialectStream
}

/** Calls the provider, and others if a middleware chooses to. Never rejects. */
export async function execute(admitted: Admitted, services: LifecycleServices): Promise<Outcome> {
  let last: Outcome = {
    exchange: admitted,
    attempts: [],
    spent: nothing,
    error: undefined,
  }
  const call = async (route: Route) => {
    try {
      const on = route === admitted.route ? admitted : await onRoute(admitted, route)
      last = await attemptOn(on, last, services)
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      const error = asGatewayError(thrown.error, admitted.requestId, services)
      last = { ...last, exchange: thrown.exchange as Admitted, error }
    }
    if (last.error !== undefined) throw last.error
  }
  const refused = await executeStep(admitted, call, services)
  if (refused === undefined || last.error === refused.error) return last
  return { ...last, error: asGatewayError(refused.error, admitted.requestId, services) }
}

/** The stream converter for the caller's dialect. */
export function toldStream(exchange: Admitted, usageUnasked?: boolean): DialectStream {
  const { way, route, model, requestId } = exchange
  if (way.conversion === undefined)
    return openStream(exchange, route.bound.compatShape === true, usageUnasked)
  return way.conversion.stream(openStream(exchange, true), { publicModel: model.id, requestId })
}

/** The stream reader for the upstream's dialect. */
export function openStream(
  { way, model }: Admitted,
  native: boolean,
  usageUnasked = false,
): DialectStream {
  const { streaming, id } = way.dialect
  if (streaming === undefined) throw new Error(`replies of the dialect ${id} are not streamed`)
  return streaming.open({ publicModel: model.id, native, usageUnasked })
}

/** The request for another candidate, checked by the guard of that route. */
async function onRoute(admitted: Admitted, route: Route): Promise<Admitted> {
  const { dispatchedAt } = admitted
  return await guardPrompt({ ...admitted.on(route), dispatchedAt })
}

async function attemptOn(
  exchange: Admitted,
  { attempts, spent: before }: Outcome,
  services: LifecycleServices,
): Promise<Outcome> {
  if (exchange.way.execute === undefined) return await answerHere(exchange, attempts)
  const attempt = beginAttempt(exchange, services)
  let modifiers: readonly string[] | undefined
  let facts: ReplyFacts
  let reply: BufferedResult
  try {
    const result = await attempt.execute()
    modifiers = result.billingModifiers
    if (result.kind === 'stream') {
      const stream = { attempt, result, told: toldStream(exchange, result.usageUnasked) }
      return { exchange, attempts, spent: { ...nothing, modifiers }, error: undefined, stream }
    }
    reply = result
    facts = exchange.way.dialect.readReply(result.body)
  } catch (thrown) {
    const error = attempt.containFault(thrown)
    // Abort what is left of the call.
    attempt.watchdog.abort(error)
    const { answer } = exchange.way.dialect
    if (attempt.refused) {
      attempt.watchdog.stop()
      if (answer !== undefined) return await answerHere(exchange, attempts)
      return { exchange, attempts, spent: before, error }
    }
    const failed = exchange.read.stream ? 'stream_start_error' : 'provider_error'
    const status = attempt.left ? 'client_abort' : failed
    const ended = [...attempts, attempt.finish(status, error)]
    if (answer !== undefined && error.status !== 400) return await answerHere(exchange, ended)
    const spent = {
      usage: error.usage,
      succeeded: false,
      modifiers: modifiers ?? error.billingModifiers,
    }
    // Keep the cost of an earlier attempt if this one cost nothing.
    const isFree = error.usage === undefined && before.usage !== undefined
    return { exchange, attempts: ended, spent: isFree ? before : spent, error }
  }
  attempt.firstByte()
  const { usage, invokedToolCount, failure } = facts
  const succeeded = failure === undefined
  const ended = attempt.finish(succeeded ? 'success' : 'provider_error', failure)
  return {
    exchange,
    attempts: [...attempts, ended],
    spent: { usage, succeeded, modifiers, invokedToolCount },
    error: undefined,
    reply,
    failure,
  }
}

/** Lets the dialect answer the call, after failed attempts if there were any. */
async function answerHere(exchange: Admitted, attempts: readonly Attempt[]): Promise<Outcome> {
  const { call, route, provider, way } = exchange
  const { dialect } = way
  // Headers of the failed upstream do not apply to this answer.
  exchange.heard = nothingHeard
  const answered = dialect.answer?.(call.body, route.spec)
  const reply = answered && (await inTime(answered, provider.timeouts.totalMs))?.value
  if (reply === undefined) throw new Error(`the dialect ${dialect.id} did not answer in time`)
  return { exchange, attempts, spent: nothing, error: undefined, reply }
}
