import type {
  Attempt,
  BufferedResult,
  GatewayError,
  JsonObject,
  Settlement,
  Usage,
} from '../plugin/index.ts'
import { messagesReply } from '../protocol/messages-reply.ts'
import { type ReplyFacts, readReply, replyText } from '../protocol/reply.ts'
import { beginAttempt } from './attempt.ts'
import { errorBody } from './error-body.ts'
import type { Admitted, Incoming, LifecycleServices, Reply } from './exchange.ts'
import { asGatewayError, ExecutionFailure, settledFailure } from './failures.ts'
import { guardPrompt, guardReply, guardsReply } from './guard.ts'
import { guardedStream } from './guarded-stream.ts'
import { outcomeOf, type Reached, record } from './record.ts'
import { settle } from './settle.ts'
import { admit, authenticate, decode, plan, receive } from './steps.ts'
import { errorEvent, replyStream } from './stream.ts'

/**
 * One inference request from door to door. Never rejects; every exchange is recorded exactly once,
 * whatever becomes of it: a streamed one when its stream has ended, any other one here.
 */
export function createInference(services: LifecycleServices) {
  return async function infer(incoming: Incoming): Promise<Reply> {
    const received = receive(incoming, services)
    let reached: Reached = received
    try {
      const authenticated = await authenticate(received, services)
      reached = authenticated
      const decoded = await decode(authenticated)
      reached = decoded
      const planned = plan(decoded, services.random)
      reached = planned
      const admitted = await admit(planned, services)
      reached = admitted
      const guarded = await guardPrompt(admitted, services, (denied) => {
        reached = denied
      })
      reached = guarded
      return await execute(guarded, services)
    } catch (thrown) {
      const { error, body } = recordFailure(reached, thrown, services)
      return errorReply(error, body)
    }
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
      outcome: reached.callerLeft() ? 'client_abort' : outcomeOf(error),
      error,
      attempts: failed === undefined ? [] : [failed.attempt],
      usage: failed?.usage,
      settlement: failed?.settlement,
      response: { kind: 'buffered', body },
    },
    services,
  )
  return { error, body }
}

async function execute(admitted: Admitted, services: LifecycleServices): Promise<Reply> {
  const attempt = beginAttempt(admitted, services)
  let result: BufferedResult
  let facts: ReplyFacts
  try {
    const answer = await attempt.execute()
    if (answer.kind === 'stream') {
      const stream = guardsReply(admitted)
        ? await guardedStream(admitted, attempt, answer, services, (late) => {
            const { error } = recordFailure(admitted, late, services, 200)
            return errorEvent(error, admitted)
          })
        : replyStream(admitted, attempt, answer, services)
      return { kind: 'stream', stream }
    }
    result = answer
    facts = readReply(admitted.family, result.body)
  } catch (thrown) {
    if (thrown instanceof ExecutionFailure) throw thrown
    const error = attempt.containFault(thrown)
    // Whatever is left of the call is not wanted.
    attempt.watchdog.abort(error)
    const ended = attempt.finish(admitted.stream ? 'stream_start_error' : 'provider_error', error)
    const used = { usage: error.usage, succeeded: false }
    throw await settledFailure(admitted, error, ended, used, services)
  }
  attempt.firstByte()
  return await buffered(admitted, attempt.finish('success'), result, facts, services)
}

async function buffered(
  admitted: Admitted,
  attempt: Attempt,
  result: BufferedResult,
  facts: ReplyFacts,
  services: LifecycleServices,
): Promise<Reply> {
  const { usage, invokedToolCount } = facts
  const used = { usage, succeeded: true, modifiers: result.billingModifiers }
  let passed = result
  if (guardsReply(admitted)) {
    try {
      const body = await guardReply(admitted, result.body)
      if (body !== result.body) passed = { kind: 'buffered', body }
    } catch (thrown) {
      // It has been paid for all the same.
      throw await settledFailure(admitted, thrown, attempt, used, services)
    }
  }
  let settlement: Settlement
  try {
    settlement = await settle(admitted, used, services)
  } catch (thrown) {
    throw new ExecutionFailure(asGatewayError(thrown, admitted, services), attempt, usage)
  }
  const reply = replyFor(admitted, passed, usage)
  record(
    admitted,
    {
      statusCode: 200,
      outcome: admitted.callerLeft() ? 'client_abort' : 'success',
      usage,
      settlement,
      attempts: [attempt],
      invokedToolCount,
      response: { kind: 'buffered', body: reply.body },
    },
    services,
  )
  return { kind: 'buffered', status: 200, headers: {}, body: reply.text }
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

function errorReply(error: GatewayError, body: JsonObject): Reply {
  return {
    kind: 'buffered',
    status: error.status,
    headers:
      error.status === 401 ? { 'www-authenticate': 'Bearer', ...error.headers } : error.headers,
    body: JSON.stringify(body),
  }
}
