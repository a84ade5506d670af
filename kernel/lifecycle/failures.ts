import { type Attempt, GatewayError, type Settlement, type Usage } from '../plugin/index.ts'
import { internalError } from './error-body.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { settle, type Used } from './settle.ts'

/** A request that failed after it had been sent to the provider. */
export class ExecutionFailure extends Error {
  readonly error: GatewayError
  readonly attempt: Attempt
  readonly usage: Usage | undefined
  readonly settlement: Settlement | undefined
  /** Of a reply that was there and is not passed on. */
  readonly invokedToolCount: number | undefined
  constructor(
    error: GatewayError,
    attempt: Attempt,
    usage?: Usage | undefined,
    settlement?: Settlement | undefined,
    invokedToolCount?: number | undefined,
  ) {
    super(error.message)
    this.error = error
    this.attempt = attempt
    this.usage = usage
    this.settlement = settlement
    this.invokedToolCount = invokedToolCount
  }
}

/** What a failed call has used and, if there was a reply, how often it called a tool. */
export interface Spent extends Used {
  readonly invokedToolCount?: number | undefined
}

/** What the caller is told of anything that was thrown; faults of the gateway go to its log. */
export function asGatewayError(
  thrown: unknown,
  { requestId }: { readonly requestId: string },
  services: LifecycleServices,
): GatewayError {
  if (thrown instanceof ExecutionFailure) return thrown.error
  if (thrown instanceof GatewayError) return thrown
  services.fault('an exchange failed', thrown, requestId)
  return internalError(thrown)
}

/** The failure of a call that may have to be paid for, its books closed. */
export async function settledFailure(
  admitted: Admitted,
  thrown: unknown,
  attempt: Attempt,
  { invokedToolCount, ...used }: Spent,
  services: LifecycleServices,
): Promise<ExecutionFailure> {
  let error = asGatewayError(thrown, admitted, services)
  let settlement: Settlement | undefined
  let { usage } = used
  try {
    const settled = await settle(admitted, used, services)
    settlement = settled.settlement
    usage = settled.usage
  } catch (fault) {
    error = asGatewayError(fault, admitted, services)
  }
  return new ExecutionFailure(error, attempt, usage, settlement, invokedToolCount)
}
