import type { Settlement, Usage } from '../plugin/index.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { admissionOf } from './steps.ts'

export interface Used {
  readonly usage: Usage | undefined
  readonly succeeded: boolean
  readonly modifiers?: readonly string[] | undefined
}

/** Closes the books of an admitted call; resolves when its ledger row is durable. */
export function settle(
  admitted: Admitted,
  used: Used,
  services: LifecycleServices,
): Promise<Settlement> {
  return services.accounting.settle({
    ...admissionOf(admitted),
    pricing: admitted.route.bound.pricing,
    usage: used.usage,
    billingModifiers: used.modifiers ?? [],
    succeeded: used.succeeded,
  })
}
