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

/** The outcome of an exchange before it is settled. */
export interface Ending {
  readonly attempts: readonly Attempt[]
  readonly spent: Spent
  /** The error, if any. */
  readonly error: GatewayError | StreamFailure | undefined
  /** The successful reply, or the closing events of a stream, from the upstream. */
  readonly said?: () => readonly (JsonValue | undefined)[]
}

/** What the caller finally receives, and how it is recorded. */
export interface Sent<T> {
  readonly value: T
  readonly statusCode: number
  readonly response: SentResponse
  /** The error sent to the caller, if it differs from how the call ended. */
  readonly error: GatewayError | StreamFailure | undefined
  readonly callerLeft: boolean
}

/**
 * Closes an exchange: settles an admitted call, lets `send` answer, then records it. Each exchange
 * ends here exactly once: a buffered one with its reply, a streamed one at the end of its stream.
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
