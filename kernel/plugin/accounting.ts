import type { GatewayError } from './errors.ts'
import type { Principal } from './identity.ts'
import type { PricingIdentity, UnpricedReason } from './provider.ts'
import type { Usage } from './usage.ts'

/** A call that is about to be made. */
export interface AdmissionRequest {
  readonly requestId: string
  /** False when the gateway made the id, which then cannot be a duplicate. */
  readonly callerChoseRequestId: boolean
  readonly principal: Principal
  readonly operation: string
  readonly requestedModel: string
  /** Canonical execution model. */
  readonly resolvedModel: string
  readonly provider: string
  readonly upstreamModel: string
  readonly pricing: PricingIdentity
  /** Of the config that the call began with. */
  readonly configVersion: string
  readonly dispatchedAt: Date
}

/** A call that reached the provider. */
export interface DispatchedCall extends AdmissionRequest {
  readonly billingModifiers: readonly string[]
}

/** A call that reached the provider, with what it used. */
export interface SettlementRequest extends DispatchedCall {
  readonly usage: Usage | undefined
  /** False: the provider call failed, so that without usage there is nothing to write. */
  readonly succeeded: boolean
}

export type PricingStatus = 'priced' | 'legacy_estimated' | 'unpriced' | 'usage_missing'

export type Settlement =
  | {
      readonly kind: 'ledger'
      readonly pricingStatus: PricingStatus
      readonly unpricedReason: UnpricedReason | undefined
      /** USD × 10⁻¹²; undefined when unpriced. */
      readonly costPicoUsd: bigint | undefined
    }
  /**
   * The call would have passed a hard limit: priced and kept as a rejected charge, not in the
   * ledger. The caller has been served all the same.
   */
  | { readonly kind: 'rejected'; readonly costPicoUsd: bigint }
  /** Nothing was used, or nothing that can be known of a failed call. */
  | { readonly kind: 'none' }

/** What is known of the tokens of a call. */
export interface Metering {
  /** The latest counters of the upstream. */
  readonly usage: Usage | undefined
  /** What the caller asked for, which limits what the counters can be. */
  readonly request: {
    /** Length of the body, in UTF-16 units. */
    readonly length: number
    readonly maxOutputTokens: number | undefined
    /** How many replies were asked for. */
    readonly choices: number
  }
  /** Of a stream that runs, or did not come to its end, so that `usage` is not its last word. */
  readonly partial?: PartialStream | undefined
}

/** The texts of a stream from which its missing counters can be estimated. */
export interface PartialStream {
  /** Why the stream did not come to its end. */
  readonly doubt: string
  /** The texts that the provider was sent. */
  input(): readonly string[]
  /** What the provider has sent since it stated `usage`: the first 256 Ki UTF-16 units of it. */
  readonly output: string
  /** UTF-8 bytes of what came after `output`. */
  readonly moreOutputBytes: number
  /** There was output before `usage` was stated, so that `output` comes on top of it. */
  readonly continues: boolean
}

/**
 * Looks at what a running stream has used so far. Returns the error that ends it, when it has used up
 * a hard limit together with everything else that counts there.
 */
export type SpendWatch = (metering: Metering) => GatewayError | undefined

/** Decides before a call and writes the ledger after it. */
export interface Accounting {
  /** Throws GatewayError `service_account_budget_required`; from memory. */
  checkOwner(principal: Principal): void
  /** Throws GatewayError: `budget_exceeded`, or `invalid_request` for a duplicate request id. */
  admit(call: AdmissionRequest): void | Promise<void>
  /** Measures a stream until it is settled; undefined when it is in no scope with a hard limit. */
  watch?(call: DispatchedCall): SpendWatch | undefined
  /**
   * The usage that a finished call is settled with: that of the upstream, unless it cannot be true, and
   * an estimate of what is missing in a stream that did not come to its end.
   */
  measure?(call: DispatchedCall, metering: Metering): Usage | undefined | Promise<Usage | undefined>
  /** Resolves when the outcome is durable. Called once for every admitted call. */
  settle(call: SettlementRequest): Promise<Settlement>
  /** Called when the last call is settled, before any plugin is disposed. */
  drain?(): Promise<void>
  /** Milliseconds that a stream is read on after its caller left, to learn what it cost. */
  abortDrainMs(): number
  /** The active budgets that a call would be measured by, for operators who ask; from memory. */
  budgetsOf?(call: Spender, at: Date): readonly BudgetState[]
}

/** What of a call tells the budgets that it counts in. */
export type Spender = Pick<AdmissionRequest, 'principal' | 'resolvedModel' | 'upstreamModel'>

/** A budget as it stands in its current window. */
export interface BudgetState {
  readonly scopeKey: string
  readonly cadence: 'daily' | 'weekly' | 'monthly'
  readonly hardLimit: boolean
  /** Plain decimals in USD. */
  readonly amountUsd: string
  readonly spentUsd: string
  /** The next calls are refused. */
  readonly exhausted: boolean
  /** RFC 3339, UTC. */
  readonly windowEnd: string
}
