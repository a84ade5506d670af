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

/** What came of a call: a reply that is there, a stream that begins, or the error in its place. */
export interface Outcome {
  /** The request on the route that was called last, or was to be called. */
  readonly exchange: Admitted
  /** Those that are over, in their order. */
  readonly attempts: readonly Attempt[]
  /** What is known by now of what has to be paid. */
  readonly spent: Spent
  /** Why the caller gets no reply, although there may be one. */
  readonly error: GatewayError | undefined
  readonly reply?: BufferedResult
  /** The reply itself says that the call failed. */
  readonly failure?: StreamFailure | undefined
  readonly stream?: RunningStream
}

export interface RunningStream {
  readonly attempt: RunningAttempt
  readonly result: StreamResult
  /** Its events as the caller reads them. */
  readonly told: DialectStream
}

/** Calls the provider, and others where a middleware says so. Never rejects. */
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

/** The events of the call as its caller reads them. */
export function toldStream(exchange: Admitted, usageUnasked?: boolean): DialectStream {
  const { way, route, model, requestId } = exchange
  if (way.conversion === undefined)
    return openStream(exchange, route.bound.compatShape === true, usageUnasked)
  return way.conversion.stream(openStream(exchange, true), { publicModel: model.id, requestId })
}

/** The events of an upstream as its own dialect has them. */
export function openStream(
  { way, model }: Admitted,
  native: boolean,
  usageUnasked = false,
): DialectStream {
  const { streaming, id } = way.dialect
  if (streaming === undefined) throw new Error(`replies of the dialect ${id} are not streamed`)
  return streaming.open({ publicModel: model.id, native, usageUnasked })
}

/** The request as another candidate gets it, judged by the guard of that route. */
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
    // Whatever is left of the call is not wanted.
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
    // An earlier attempt may have cost something, and this one nothing.
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

/** The call as its dialect answers it, after the attempts that failed. */
async function answerHere(exchange: Admitted, attempts: readonly Attempt[]): Promise<Outcome> {
  const { call, route, provider, way } = exchange
  const { dialect } = way
  // What an upstream that failed says of the next call is not about this answer.
  exchange.heard = nothingHeard
  const answered = dialect.answer?.(call.body, route.spec)
  const reply = answered && (await inTime(answered, provider.timeouts.totalMs))?.value
  if (reply === undefined) throw new Error(`the dialect ${dialect.id} did not answer in time`)
  return { exchange, attempts, spent: nothing, error: undefined, reply }
}
