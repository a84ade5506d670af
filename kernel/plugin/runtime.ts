import type { GuardPolicies } from './guardrail.ts'
import type { Principal } from './identity.ts'

/** A config that stays usable until it is released, even after a reload. */
export interface ConfigLease {
  readonly configVersion: string
  readonly acceptedAt: Date
  /** Sorted ids of the models that a caller may use, even if no route can serve them now. */
  modelsOf(principal: Principal): readonly string[]
  /** The same object for each lease of one config; undefined without guardrails. */
  readonly guards: GuardPolicies | undefined
  /** Call once, when the work with the config is done. */
  release(): void
}

/** The active config. */
export interface ConfigInForce {
  /** Throws before the gateway serves requests. */
  lease(): ConfigLease
}
