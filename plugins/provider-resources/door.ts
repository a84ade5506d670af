import type { Accounting } from 'model-gateway/accounting'
import type { ConfigInForce, ConfigLease } from 'model-gateway/host'
import type { HttpCall, HttpMethod, HttpRoute } from 'model-gateway/http'
import { type Identity, type Principal, presentedKey } from 'model-gateway/identity'
import type { Attempt, ExchangeRecorder } from 'model-gateway/observer'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ResourceReply } from 'model-gateway/resources'
import { type Account, readJson, type SendOptions, send } from './accounts.ts'
import type { LineModel } from './lines.ts'

/** An authenticated call. */
export interface Served {
  readonly call: HttpCall
  readonly principal: Principal
  readonly lease: ConfigLease
  /** Further data for the request log. */
  readonly noted: Noted
  /** Calls an upstream for the caller, and logs the attempt. */
  send(
    account: Account,
    call: Pick<SendOptions, 'method' | 'path' | 'headers' | 'body'>,
  ): Promise<ResourceReply>
}

interface Noted {
  requestBody?: JsonObject
  model?: LineModel
  readonly attempts: Attempt[]
}

export interface DoorOptions {
  readonly identity: () => Identity
  readonly accounting: () => Accounting
  readonly recorders: () => readonly ExchangeRecorder[]
  readonly runtime: ConfigInForce
  /** Called when a recorder fails. */
  fault(error: unknown): void
}

/** The reply, and the part of it that is logged. */
export interface Answer {
  readonly response: Response
  readonly logged: JsonValue
}

export type Handler = (served: Served) => Promise<Answer>
export type Route = (
  operation: string,
  method: HttpMethod,
  path: string,
  handle: Handler,
  errorsOf?: string,
) => HttpRoute

/** Creates routes that authenticate each call and log it in one row. */
export function createDoor({
  identity,
  accounting,
  recorders,
  runtime,
  fault,
}: DoorOptions): Route {
  return (operation, method, path, handle, errorsOf) => ({
    method,
    path,
    ...(errorsOf !== undefined && { errorsOf: () => errorsOf }),
    async handle(call) {
      const lease = runtime.lease()
      const noted: Noted = { attempts: [] }
      let principal: Principal | undefined
      const record = (statusCode: number, logged: JsonValue, error?: unknown) => {
        const { code, message } = errorOf(error)
        const exchange = {
          requestId: call.requestId,
          clientRequestId: call.header('x-client-request-id') ?? undefined,
          receivedAt: call.receivedAt,
          operation,
          surface: operation,
          path,
          stream: false,
          configVersion: lease.configVersion,
          principal,
          requestedModel: noted.model?.requested,
          resolvedModel: noted.model?.resolved,
          provider: noted.attempts[0]?.provider,
          upstreamModel: noted.model?.upstream,
          statusCode,
          outcome: error === undefined ? 'success' : outcomeOf(error),
          errorCode: code,
          errorMessage: message,
          latencyMs: Date.now() - call.receivedAt.getTime(),
          usage: undefined,
          // Storage costs nothing; batches and responses are charged when they end.
          priced: false,
          settlement: undefined,
          attempts: noted.attempts,
          userAgent: call.header('user-agent') ?? undefined,
          tags: { service: undefined, component: undefined, env: undefined, custom: [] },
          requestHeaders: call.headers,
          requestBody: noted.requestBody,
          response: { kind: 'buffered', body: logged },
          exposedToolCount: undefined,
          invokedToolCount: undefined,
        } as const
        for (const recorder of recorders()) {
          try {
            recorder.record(exchange)
          } catch (failure) {
            fault(failure)
          }
        }
      }
      try {
        principal = await identity().authenticate(presentedKey(call.header), call)
        accounting().checkOwner(principal)
        const { response, logged } = await handle({
          call,
          principal,
          lease,
          noted,
          send: (account, upstream) => attempt(account, upstream, call, noted),
        })
        record(response.status, logged)
        return response
      } catch (error) {
        const { status, code, message } = errorOf(error)
        record(
          status ?? 500,
          { error: { code: code ?? 'internal_error', message: message ?? '' } },
          error,
        )
        throw error
      } finally {
        lease.release()
      }
    },
  })
}

async function attempt(
  account: Account,
  upstream: Pick<SendOptions, 'method' | 'path' | 'headers' | 'body'>,
  { request, requestId, keepOpen }: HttpCall,
  { attempts, model }: Noted,
): Promise<ResourceReply> {
  keepOpen()
  const startedAt = new Date()
  const done = (
    status: Attempt['status'],
    upstreamStatus?: number,
    error?: unknown,
    id?: string,
  ) => {
    const { code, message } = errorOf(error)
    const latencyMs = Date.now() - startedAt.getTime()
    attempts.push({
      provider: account.provider,
      providerType: account.providerType,
      routeId:
        model === undefined
          ? account.provider
          : `${model.resolved}/${account.provider}/${model.upstream}`,
      upstreamModel: model?.upstream ?? '',
      startedAt,
      status,
      latencyMs,
      firstByteMs: error === undefined ? latencyMs : undefined,
      upstreamStatus,
      upstreamRequestId: id,
      errorCode: code,
      errorMessage: message,
    })
  }
  try {
    const reply = await send(account, { ...upstream, requestId, signal: request.signal })
    done('success', reply.status, undefined, reply.headers.get('x-request-id') ?? undefined)
    return reply
  } catch (error) {
    const status =
      error instanceof GatewayError && error.code === 'upstream_http_error'
        ? error.status
        : undefined
    done(request.signal.aborted ? 'client_abort' : 'provider_error', status, error)
    throw error
  }
}

function errorOf(error: unknown) {
  if (error === undefined) return {}
  if (!(error instanceof GatewayError)) return { code: 'internal_error', message: 'internal error' }
  const { code, message, status } = error
  return { code, message, status }
}

function outcomeOf(error: unknown) {
  if (!(error instanceof GatewayError)) return 'internal_error'
  switch (error.type) {
    case 'budget_error':
      return 'budget_error'
    case 'upstream_error':
      return 'upstream_error'
    case 'guardrail_error':
      return 'guardrail_denied'
    case 'store_error':
    case 'internal_error':
      return 'internal_error'
    default:
      return 'invalid_request'
  }
}

/** Upstream headers that describe the body. */
const PASSED = ['content-type', 'content-length', 'content-disposition', 'etag', 'last-modified']

function headersOf({ headers }: ResourceReply): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of PASSED) {
    const value = headers.get(name)
    if (value !== null) passed[name] = value
  }
  const id = headers.get('x-request-id')
  return id === null ? passed : { ...passed, 'x-upstream-request-id': id }
}

/** Streams the body of an upstream. Cancelling it aborts the upstream call. */
export function streamed(reply: ResourceReply, call: HttpCall): Answer {
  const ended = call.streams()
  const pieces = reply.body[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (!done) return controller.enqueue(value)
          ended()
          controller.close()
        } catch (error) {
          ended()
          controller.error(error)
        }
      },
      async cancel() {
        ended()
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return { response: new Response(body, { headers: headersOf(reply) }), logged: null }
}

/** A JSON reply of an upstream, unchanged. */
export async function readReply(reply: ResourceReply) {
  const { object, text } = await readJson(reply)
  const { 'content-length': _, ...headers } = headersOf(reply)
  const answer = (as = text): Answer => ({
    response: new Response(as, {
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
    }),
    logged: object,
  })
  return { object, text, answer }
}

export function jsonAnswer(body: JsonObject): Answer {
  return { response: Response.json(body), logged: body }
}
