import type { GuardPolicies } from './guardrail.ts'
import type { Principal } from './identity.ts'

/** A config that is usable until it is released, also when another one has taken its place. */
export interface ConfigLease {
  readonly configVersion: string
  readonly acceptedAt: Date
  /** Ids of the models that a caller may ask for, whether or not a route can serve them now; sorted. */
  modelsOf(principal: Principal): readonly string[]
  /** The same object for each lease of one config; `undefined` when no plugin guards. */
  readonly guards: GuardPolicies | undefined
  /** To be called once, when the work that began with the config is over. */
  release(): void
}

/** The config in force. */
export interface ConfigInForce {
  /** Throws before the gateway serves. */
  lease(): ConfigLease
}
