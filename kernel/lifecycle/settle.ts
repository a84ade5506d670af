import type {
  DispatchedCall,
  JsonValue,
  Metering,
  PartialStream,
  Settlement,
  Usage,
} from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { admissionOf } from './steps.ts'

/** The usage of a call and, if a reply exists, its number of tool calls. */
export interface Spent {
  readonly usage: Usage | undefined
  readonly succeeded: boolean
  readonly modifiers?: readonly string[] | undefined
  readonly invokedToolCount?: number | undefined
  /** Set if the stream did not complete. */
  readonly partial?: PartialStream | undefined
}

/** Set if no provider was reached; the request id becomes usable again. */
export const nothing: Spent = { usage: undefined, succeeded: false }

export interface Settled {
  readonly settlement: Settlement
  /** The usage that was settled. */
  readonly usage: Usage | undefined
}

/** Settles an admitted call; resolves when its ledger row is durable. */
export async function settle(
  admitted: Admitted,
  used: Spent,
  services: LifecycleServices,
): Promise<Settled> {
  const { accounting } = services
  if (admitted.surface.priced === false) {
    return { settlement: { kind: 'none' }, usage: used.usage }
  }
  const dispatched = dispatchedCall(admitted, used.modifiers)
  await nextTurn()
  let { usage } = used
  if (accounting.measure !== undefined) {
    const measured = measure(dispatched, admitted, used, services)
    usage = measured instanceof Promise ? await measured : measured
  }
  const call = {
    ...dispatched,
    usage: used.succeeded ? usage : doubted(usage, admitted.read.stream),
    succeeded: used.succeeded,
  }
  return { settlement: await accounting.settle(call), usage: call.usage }
}

/** The call for accounting, after it was sent. */
export function dispatchedCall(
  admitted: Admitted,
  modifiers: readonly string[] = [],
): DispatchedCall {
  return {
    ...admissionOf(admitted),
    billingModifiers: modifiers,
  }
}

/** Limits on the tokens of a call, as sent to the provider. */
export function requestLimits({ call, rawBody }: Admitted): Metering['request'] {
  const { max_tokens, max_completion_tokens, max_output_tokens, n } = call.body
  const stated = [max_tokens, max_completion_tokens, max_output_tokens].filter(isCount)
  return {
    length: rawBody.length,
    maxOutputTokens: stated.length === 0 ? undefined : Math.max(...stated),
    choices: isCount(n) ? n : 1,
  }
}

/** Counters of the upstream, corrected by accounting. Its errors do not fail the reply. */
function measure(
  dispatched: DispatchedCall,
  admitted: Admitted,
  { usage, succeeded, partial }: Spent,
  services: LifecycleServices,
): Usage | undefined | Promise<Usage | undefined> {
  const { accounting } = services
  const failed = (error: unknown) => {
    services.fault('a call could not be measured', error, admitted.requestId)
    return usage
  }
  // A stream that failed before any content was not served.
  const isServed = succeeded || usage !== undefined || partial?.output !== ''
  const metering = {
    usage,
    request: requestLimits(admitted),
    partial: isServed ? partial : undefined,
  }
  try {
    const measured = accounting.measure?.(dispatched, metering)
    return measured instanceof Promise ? measured.catch(failed) : measured
  } catch (error) {
    return failed(error)
  }
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0
}

/** For a failed call, only its latest counters are known. */
function doubted(usage: Usage | undefined, stream: boolean): Usage | undefined {
  return usage && { ...usage, doubt: usage.doubt ?? (stream ? 'stream_error' : 'provider_error') }
}
