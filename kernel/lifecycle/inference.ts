import type {
  Attempt,
  BufferedResult,
  GatewayError,
  JsonObject,
  Settlement,
  StreamResult,
  Usage,
} from '../plugin/index.ts'
import { messagesReply } from '../wire/messages-reply.ts'
import { type ReplyFacts, readReply, replyText } from '../wire/reply.ts'
import { beginAttempt, type RunningAttempt } from './attempt.ts'
import { CHALLENGE, errorBody } from './error-body.ts'
import type { Admitted, Incoming, LifecycleServices, Reply, ReplyStream } from './exchange.ts'
import { asGatewayError, ExecutionFailure, settledFailure } from './failures.ts'
import { guardPrompt, guardReply, guardsReply } from './guard.ts'
import { guardedStream } from './guarded-stream.ts'
import { outcomeOf, type Reached, record } from './record.ts'
import { admitStep, decodeStep, executeStep, respondStep } from './seams.ts'
import { settle } from './settle.ts'
import { authenticate, plan, receive } from './steps.ts'
import { errorEvent, replyStream } from './stream.ts'

/**
 * One inference request from door to door. Never rejects; every exchange is recorded exactly once,
 * whatever becomes of it: a streamed one when its stream has ended, any other one here.
 */
export function createInference(services: LifecycleServices) {
  return async function infer(incoming: Incoming): Promise<Reply> {
    const received = receive(incoming, services)
    let reached: Reached = received
    const reach = (further: Reached) => {
      reached = further
    }
    try {
      const authenticated = await authenticate(received, services, reach)
      const decoded = await decodeStep(authenticated, services, reach)
      reach(decoded)
      const planned = plan(decoded, services.random, reach)
      reach(planned)
      const admitted = await admitStep(planned, services, reach)
      reach(admitted)
      const guarded = await guardPrompt(admitted, services, reach)
      reach(guarded)
      return await execute(guarded, services)
    } catch (thrown) {
      return await refuse(reached, thrown, services)
    }
  }
}

/** The reply of a request that failed, with the headers that middlewares add. */
async function refuse(
  reached: Reached,
  thrown: unknown,
  services: LifecycleServices,
): Promise<Reply> {
  const { error, body } = recordFailure(reached, thrown, services)
  const head = { status: error.status, stream: false, errorCode: error.code }
  try {
    return errorReply(error, body, await respondStep(reached, head, services))
  } catch {
    // It is an error already, and stays the one that it is.
    return errorReply(error, body)
  }
}

/** Closes an exchange that failed. `statusCode`: what the caller has been sent already. */
function recordFailure(
  reached: Reached,
  thrown: unknown,
  services: LifecycleServices,
  statusCode?: number,
) {
  const error = asGatewayError(thrown, reached, services)
  const failed = thrown instanceof ExecutionFailure ? thrown : undefined
  const body = errorBody(error, reached.requestId, reached.apiSurface)
  record(
    reached,
    {
      statusCode: statusCode ?? error.status,
      outcome: reached.callerLeft().aborted ? 'client_abort' : outcomeOf(error),
      error,
      attempts: failed === undefined ? [] : [failed.attempt],
      usage: failed?.usage,
      settlement: failed?.settlement,
      invokedToolCount: failed?.invokedToolCount,
      response: { kind: 'buffered', body },
    },
    services,
  )
  return { error, body }
}

async function execute(admitted: Admitted, services: LifecycleServices): Promise<Reply> {
  let begun: RunningAttempt | undefined
  const call = () => {
    begun = beginAttempt(admitted, services)
    return begun.execute()
  }
  const { answer, failure } = await executeStep(admitted, call, services)
  const attempt = begun as RunningAttempt | undefined
  if (attempt === undefined || attempt.refused) {
    // By a middleware or the provider: no upstream has been called, and the request id is given back.
    attempt?.watchdog.stop()
    await settle(admitted, { usage: undefined, succeeded: false }, services)
    throw failure?.error
  }
  if (answer === undefined) throw await failedCall(admitted, attempt, failure?.error, services)
  if (answer.kind === 'stream') {
    return await streamed(admitted, attempt, answer, failure?.error, services)
  }
  let facts: ReplyFacts
  try {
    facts = readReply(admitted.family, answer.body)
  } catch (thrown) {
    throw await failedCall(admitted, attempt, thrown, services, answer.billingModifiers)
  }
  attempt.firstByte()
  const succeeded = facts.failure === undefined
  const finished = attempt.finish(succeeded ? 'success' : 'provider_error', facts.failure)
  if (failure === undefined) return await buffered(admitted, finished, answer, facts, services)
  // It has been paid for all the same.
  const { usage, invokedToolCount } = facts
  const spent = { usage, succeeded, modifiers: answer.billingModifiers, invokedToolCount }
  throw await settledFailure(admitted, failure.error, finished, spent, services)
}

async function failedCall(
  admitted: Admitted,
  attempt: RunningAttempt,
  thrown: unknown,
  services: LifecycleServices,
  billingModifiers?: readonly string[],
): Promise<ExecutionFailure> {
  const error = attempt.containFault(thrown)
  const modifiers = billingModifiers ?? error.billingModifiers
  // Whatever is left of the call is not wanted.
  attempt.watchdog.abort(error)
  const ended = attempt.finish(admitted.stream ? 'stream_start_error' : 'provider_error', error)
  const used = { usage: error.usage, succeeded: false, modifiers }
  return await settledFailure(admitted, error, ended, used, services)
}

/** `refusal`: a middleware has failed since the provider began to answer. */
async function streamed(
  admitted: Admitted,
  attempt: RunningAttempt,
  answer: StreamResult,
  refusal: unknown,
  services: LifecycleServices,
): Promise<Reply> {
  let stream: ReplyStream
  let error: GatewayError
  if (refusal !== undefined) {
    stream = replyStream(admitted, attempt, answer, services)
    error = asGatewayError(refusal, admitted, services)
  } else {
    stream = guardsReply(admitted)
      ? await guardedStream(admitted, attempt, answer, services, (late) => {
          const { error } = recordFailure(admitted, late, services, 200)
          return errorEvent(error, admitted)
        })
      : replyStream(admitted, attempt, answer, services)
    try {
      const headers = respondStep(admitted, { status: 200, stream: true }, services)
      return {
        kind: 'stream',
        headers: headers instanceof Promise ? await headers : headers,
        stream,
      }
    } catch (fault) {
      error = asGatewayError(fault, admitted, services)
    }
  }
  // It is read out for its price, and recorded when it ends.
  stream.cancel(error)
  return errorReply(error, errorBody(error, admitted.requestId, admitted.apiSurface))
}

async function buffered(
  admitted: Admitted,
  attempt: Attempt,
  result: BufferedResult,
  facts: ReplyFacts,
  services: LifecycleServices,
): Promise<Reply> {
  const { invokedToolCount, failure } = facts
  let { usage } = facts
  const used = { usage, succeeded: failure === undefined, modifiers: result.billingModifiers }
  let reply: ReturnType<typeof replyFor>
  try {
    const body = guardsReply(admitted) ? await guardReply(admitted, result) : result.body
    const passed = body === result.body ? result : { kind: 'buffered' as const, body }
    reply = replyFor(admitted, passed, usage)
  } catch (thrown) {
    // It has been paid for all the same.
    throw await settledFailure(admitted, thrown, attempt, { ...used, invokedToolCount }, services)
  }
  let settlement: Settlement
  try {
    const settled = await settle(admitted, used, services)
    settlement = settled.settlement
    usage = settled.usage
  } catch (thrown) {
    const error = asGatewayError(thrown, admitted, services)
    throw new ExecutionFailure(error, attempt, usage, undefined, invokedToolCount)
  }
  let headers: Readonly<Record<string, string>>
  try {
    const added = respondStep(admitted, { status: 200, stream: false }, services)
    headers = added instanceof Promise ? await added : added
  } catch (fault) {
    const error = asGatewayError(fault, admitted, services)
    const failed = new ExecutionFailure(error, attempt, usage, settlement, invokedToolCount)
    return errorReply(error, recordFailure(admitted, failed, services).body)
  }
  record(
    admitted,
    {
      statusCode: 200,
      outcome: admitted.callerLeft().aborted
        ? 'client_abort'
        : failure === undefined
          ? 'success'
          : outcomeOf(failure),
      error: failure,
      usage,
      settlement,
      attempts: [attempt],
      invokedToolCount,
      response: { kind: 'buffered', body: reply.body, bytes: Buffer.byteLength(reply.text) },
    },
    services,
  )
  return { kind: 'buffered', status: 200, headers, body: reply.text }
}

/** The reply in the shape that the caller reads, and the same as text. */
function replyFor(
  { apiSurface, requestId, model }: Admitted,
  { body: chat, rawBody }: BufferedResult,
  usage: Usage | undefined,
) {
  if (apiSurface === 'messages') {
    const body = messagesReply(chat, usage, { publicModel: model.id, requestId })
    return { body, text: JSON.stringify(body) }
  }
  return { body: { ...chat, model: model.id }, text: replyText(chat, rawBody, model.id) }
}

function errorReply(
  error: GatewayError,
  body: JsonObject,
  added: Readonly<Record<string, string>> = {},
): Reply {
  const challenge = error.status === 401 ? CHALLENGE : {}
  return {
    kind: 'buffered',
    status: error.status,
    headers: { ...added, ...challenge, ...error.headers },
    body: JSON.stringify(body),
  }
}
