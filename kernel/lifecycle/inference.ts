import {
  type Attempt,
  type BufferedResult,
  GatewayError,
  type JsonObject,
  type Settlement,
  type Usage,
} from '../plugin/index.ts'
import { messagesReply } from '../protocol/messages-reply.ts'
import { type ReplyFacts, readReply, replyText } from '../protocol/reply.ts'
import { beginAttempt } from './attempt.ts'
import { errorBody, internalError } from './error-body.ts'
import type { Admitted, Incoming, LifecycleServices, Reply } from './exchange.ts'
import { outcomeOf, type Reached, record } from './record.ts'
import { settle } from './settle.ts'
import { admit, authenticate, decode, plan, receive } from './steps.ts'
import { replyStream } from './stream.ts'

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
      return await execute(admitted, services)
    } catch (thrown) {
      const error = asGatewayError(thrown, incoming, services)
      const failed = thrown instanceof ExecutionFailure ? thrown : undefined
      const body = errorBody(error, incoming.requestId, incoming.apiSurface)
      record(
        reached,
        {
          statusCode: error.status,
          outcome: incoming.callerLeft() ? 'client_abort' : outcomeOf(error),
          error,
          attempts: failed === undefined ? [] : [failed.attempt],
          usage: failed?.usage,
          settlement: failed?.settlement,
          response: { kind: 'buffered', body },
        },
        services,
      )
      return errorReply(error, body)
    }
  }
}

/** A request that failed after it had been sent to the provider. */
class ExecutionFailure extends Error {
  readonly error: GatewayError
  readonly attempt: Attempt
  readonly usage: Usage | undefined
  readonly settlement: Settlement | undefined
  constructor(
    error: GatewayError,
    attempt: Attempt,
    usage?: Usage | undefined,
    settlement?: Settlement | undefined,
  ) {
    super(error.message)
    this.error = error
    this.attempt = attempt
    this.usage = usage
    this.settlement = settlement
  }
}

async function execute(admitted: Admitted, services: LifecycleServices): Promise<Reply> {
  const attempt = beginAttempt(admitted, services)
  let result: BufferedResult
  let facts: ReplyFacts
  try {
    const answer = await attempt.execute()
    if (answer.kind === 'stream') {
      return { kind: 'stream', stream: replyStream(admitted, attempt, answer, services) }
    }
    result = answer
    facts = readReply(admitted.family, result.body)
  } catch (thrown) {
    const error = attempt.containFault(thrown)
    // Whatever is left of the call is not wanted.
    attempt.watchdog.abort(error)
    const ended = attempt.finish(admitted.stream ? 'stream_start_error' : 'provider_error', error)
    const { usage } = error
    let settlement: Settlement
    try {
      settlement = await settle(admitted, { usage, succeeded: false }, services)
    } catch (fault) {
      throw new ExecutionFailure(asGatewayError(fault, admitted, services), ended, usage)
    }
    throw new ExecutionFailure(error, ended, usage, settlement)
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
  let settlement: Settlement
  try {
    settlement = await settle(admitted, used, services)
  } catch (thrown) {
    throw new ExecutionFailure(asGatewayError(thrown, admitted, services), attempt, usage)
  }
  const reply = replyFor(admitted, result, usage)
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

function asGatewayError(
  thrown: unknown,
  incoming: Incoming,
  services: LifecycleServices,
): GatewayError {
  if (thrown instanceof ExecutionFailure) return thrown.error
  if (thrown instanceof GatewayError) return thrown
  services.fault('an exchange failed', thrown, incoming.requestId)
  return internalError(thrown)
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
