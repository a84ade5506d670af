import type {
  Attempt,
  GatewayError,
  JsonValue,
  SentResponse,
  StreamFailure,
  Usage,
} from '../plugin/index.ts'
import { noteRoute } from './affinity.ts'
import type { Exchange, LifecycleServices } from './exchange.ts'
import { asGatewayError } from './fault.ts'
import { outcomeOf, record } from './record.ts'
import { type Spent, settle } from './settle.ts'

/** What is known of an exchange when it is over, before its books are closed. */
export interface Ending {
  readonly attempts: readonly Attempt[]
  readonly spent: Spent
  /** What went wrong; undefined when nothing did. */
  readonly error: GatewayError | StreamFailure | undefined
  /** A reply that went well, or the events that close one, as the upstream has them. */
  readonly said?: () => readonly (JsonValue | undefined)[]
}

/** What the caller is sent in the end, and how that is recorded. */
export interface Sent<T> {
  readonly value: T
  readonly statusCode: number
  readonly response: SentResponse
  /** What the caller was told, when that differs from how the call ended. */
  readonly error: GatewayError | StreamFailure | undefined
  readonly callerLeft: boolean
}

/**
 * Closes an exchange: settles an admitted call, lets `send` answer, records. Every exchange ends here,
 * once: a buffered one when its reply is there, a streamed one at the end of its stream.
 */
export async function close<T>(
  exchange: Exchange,
  { attempts, spent, error, said }: Ending,
  send: (error: Ending['error'], usage: Usage | undefined) => Sent<T> | Promise<Sent<T>>,
  services: LifecycleServices,
): Promise<T> {
  let failure = error
  if (error === undefined && said !== undefined) noteRoute(exchange, said, services)
  let settled: Awaited<ReturnType<typeof settle>> | undefined
  if ('dispatchedAt' in exchange) {
    try {
      settled = await settle(exchange, spent, services)
    } catch (thrown) {
      failure = asGatewayError(thrown, exchange.requestId, services)
    }
  }
  const usage = settled === undefined ? spent.usage : settled.usage
  const sent = send(failure, usage)
  const { value, statusCode, response, ...told } = sent instanceof Promise ? await sent : sent
  record(
    exchange,
    {
      statusCode,
      outcome: told.callerLeft
        ? 'client_abort'
        : told.error === undefined
          ? 'success'
          : outcomeOf(told.error),
      error: told.error,
      usage,
      settlement: settled?.settlement,
      attempts,
      invokedToolCount: spent.invokedToolCount,
      response,
    },
    services,
  )
  return value
}
