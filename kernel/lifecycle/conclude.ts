import type { BufferedResult, GatewayError, JsonObject, Usage, WireError } from '../plugin/index.ts'
import { replyText } from '../wire/reply.ts'
import { close, type Ending, type Sent } from './close.ts'
import { errorHeaders, wireError } from './error-body.ts'
import type { Admitted, Exchange, LifecycleServices, Reply, ReplyStream } from './exchange.ts'
import type { Outcome, RunningStream } from './execute.ts'
import { asGatewayError } from './fault.ts'
import { guardReply, guardsReply } from './guard.ts'
import { guardedStream } from './guarded-stream.ts'
import { droppedNames } from './record.ts'
import { refusalOf, type ToldRefusal } from './refusal.ts'
import { respondStep } from './seams.ts'
import { nothing } from './settle.ts'
import { replyStream } from './stream.ts'
import { nothingHeard } from './upstream-headers.ts'

/** The reply to a refused request: no provider was called and nothing is charged. */
export function refuse(
  exchange: Exchange,
  thrown: unknown,
  services: LifecycleServices,
): Promise<Reply> {
  const error = asGatewayError(thrown, exchange.requestId, services)
  return answerError(exchange, { attempts: [], spent: nothing, error }, services)
}

/** The reply to an executed call: guarded, settled, answered and recorded. Never rejects. */
export async function conclude(outcome: Outcome, services: LifecycleServices): Promise<Reply> {
  const { exchange, reply, stream } = outcome
  let { error } = outcome
  if (stream !== undefined) return await concludeStream(outcome, stream, services)
  let written: Written | undefined
  if (reply !== undefined && error === undefined) {
    try {
      const body = guardsReply(exchange) ? await guardReply(exchange, reply) : reply.body
      written = write(exchange, body, body === reply.body ? reply.rawBody : undefined, outcome)
    } catch (thrown) {
      error = asGatewayError(thrown, exchange.requestId, services)
    }
  }
  if (written === undefined) return await answerError(exchange, { ...outcome, error }, services)
  const { body, text } = written
  const { attempts, spent, failure } = outcome
  const sent = (added: Readonly<Record<string, string>>): Sent<Reply> => ({
    value: {
      kind: 'buffered',
      status: 200,
      headers: replyHeaders(exchange, added, reply),
      body: text,
    },
    statusCode: 200,
    response: { kind: 'buffered', body, bytes: Buffer.byteLength(text) },
    error: failure,
    callerLeft: exchange.callerLeft().aborted,
  })
  // Synchronous unless a middleware is async, because nearly every reply passes here.
  const send = (error: Ending['error']): Sent<Reply> | Promise<Sent<Reply>> => {
    if (error !== failure) return errorSent(exchange, error, services)
    const added = respondStep(exchange, { status: 200, stream: false }, services)
    if (!(added instanceof Promise)) return sent(added)
    return added.then(sent, (thrown) =>
      errorReplySent(exchange, asGatewayError(thrown, exchange.requestId, services), {}),
    )
  }
  const said = () => [reply?.body]
  return close(exchange, { attempts, spent, error: failure, said }, send, services)
}

interface Written {
  readonly body: JsonObject
  readonly text: string
}

/** The reply in the caller's dialect, as object and as text. */
function write(
  { way: { conversion, dialect }, requestId, model }: Admitted,
  reply: JsonObject,
  rawBody: string | undefined,
  { spent }: Outcome,
): Written {
  if (conversion === undefined && dialect.namesModel === false) {
    return { body: reply, text: rawBody ?? JSON.stringify(reply) }
  }
  if (conversion === undefined) {
    return { body: { ...reply, model: model.id }, text: replyText(reply, rawBody, model.id) }
  }
  const body = conversion.reply(reply, spent.usage, { publicModel: model.id, requestId })
  return { body, text: JSON.stringify(body) }
}

async function concludeStream(
  outcome: Outcome,
  running: RunningStream,
  services: LifecycleServices,
): Promise<Reply> {
  const { exchange } = outcome
  let { error } = outcome
  let stream: ReplyStream
  if (error === undefined && guardsReply(exchange)) {
    const held = await guardedStream(exchange, running, outcome.attempts, services)
    if ('ending' in held) {
      return await answerError(exchange, held.ending, services, running.result.usageUnasked)
    }
    stream = held.stream
  } else {
    stream = replyStream(exchange, running, outcome.attempts, services)
  }
  if (error === undefined) {
    try {
      const headers = respondStep(exchange, { status: 200, stream: true }, services)
      return {
        kind: 'stream',
        headers: replyHeaders(exchange, headers instanceof Promise ? await headers : headers),
        stream,
      }
    } catch (thrown) {
      error = asGatewayError(thrown, exchange.requestId, services)
    }
  }
  // The stream is read to its end to learn its cost, and closed then.
  stream.cancel(error)
  const written = wireError(error, exchange.requestId, exchange.surface)
  return errorReply(error, written, replyHeaders(exchange, {}))
}

function answerError(
  exchange: Exchange,
  ending: Ending,
  services: LifecycleServices,
  usageUnasked?: boolean,
): Promise<Reply> {
  const send = (error: Ending['error'], usage: Usage | undefined) =>
    errorSent(exchange, error, services, usage, usageUnasked)
  return close(exchange, ending, send, services)
}

async function errorSent(
  exchange: Exchange,
  failure: Ending['error'],
  services: LifecycleServices,
  usage?: Usage,
  usageUnasked?: boolean,
): Promise<Sent<Reply>> {
  const error = asGatewayError(failure, exchange.requestId, services)
  const refusal = refusalOf(exchange, error, usage, services, usageUnasked)
  const status = refusal === undefined ? error.status : 200
  const head = { status, stream: refusal?.isStream === true, errorCode: error.code }
  try {
    return errorReplySent(exchange, error, await respondStep(exchange, head, services), refusal)
  } catch {
    // If `respond` fails too, the first error is kept.
    return errorReplySent(exchange, error, {}, refusal)
  }
}

function errorReplySent(
  exchange: Exchange,
  error: GatewayError,
  added: Readonly<Record<string, string>>,
  refusal?: ToldRefusal,
): Sent<Reply> {
  const written = wireError(error, exchange.requestId, exchange.surface)
  const value = errorReply(error, written, replyHeaders(exchange, added), refusal)
  return {
    value,
    statusCode: value.status,
    response: { kind: 'buffered', body: refusal?.body ?? written.body },
    error,
    callerLeft: exchange.callerLeft().aborted,
  }
}

/** Headers about a call, in addition to those of middlewares. */
function replyHeaders(
  exchange: Exchange,
  added: Readonly<Record<string, string>>,
  reply?: BufferedResult,
): Readonly<Record<string, string>> {
  if (!('heard' in exchange)) return added
  const { headers, requestId } = exchange.heard
  const told = reply?.headers
  if (exchange.heard === nothingHeard && exchange.dropped.size === 0 && !told) return added
  return {
    ...headers,
    ...told,
    ...(requestId !== undefined && { 'x-upstream-request-id': requestId }),
    ...added,
    ...(exchange.dropped.size > 0 && { 'x-gateway-dropped': droppedNames(exchange).join(', ') }),
  }
}

function errorReply(
  error: GatewayError,
  { body, headers }: WireError,
  added: Readonly<Record<string, string>>,
  refusal?: ToldRefusal,
): Extract<Reply, { kind: 'buffered' }> {
  const type = refusal?.isStream === true && { 'content-type': 'text/event-stream; charset=utf-8' }
  return {
    kind: 'buffered',
    status: refusal === undefined ? error.status : 200,
    headers: { ...added, ...type, ...errorHeaders(error), ...headers },
    body: refusal?.text ?? JSON.stringify(body),
  }
}
