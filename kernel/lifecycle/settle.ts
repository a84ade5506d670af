import type { Settlement, Usage } from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { admissionOf } from './steps.ts'

export interface Used {
  readonly usage: Usage | undefined
  readonly succeeded: boolean
  readonly modifiers?: readonly string[] | undefined
}

/** Closes the books of an admitted call; resolves when its ledger row is durable. */
export async function settle(
  admitted: Admitted,
  used: Used,
  { accounting, sinks }: LifecycleServices,
): Promise<Settlement> {
  const call = {
    ...admissionOf(admitted),
    pricing: admitted.route.bound.pricing,
    configVersion: admitted.lease.runtime.configVersion,
    usage: used.succeeded ? used.usage : doubted(used.usage, admitted.stream),
    billingModifiers: used.modifiers ?? [],
    succeeded: used.succeeded,
  }
  await nextTurn()
  const settlement = await accounting.settle(call)
  sinks?.push(call, settlement)
  return settlement
}

/** Counters of a call that failed are no more than its latest ones. */
function doubted(usage: Usage | undefined, stream: boolean): Usage | undefined {
  return usage && { ...usage, doubt: usage.doubt ?? (stream ? 'stream_error' : 'provider_error') }
}
