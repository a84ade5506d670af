import type { GuardPolicies } from './guardrail.ts'

/** A config that is usable until it is released, also when another one has taken its place. */
export interface ConfigLease {
  readonly configVersion: string
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
