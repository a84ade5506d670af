import type { GatewayError } from './errors.ts'
import type { Principal } from './identity.ts'
import type { PricingIdentity, UnpricedReason } from './provider.ts'
import type { Usage } from './usage.ts'

/** A call before it is made. */
export interface AdmissionRequest {
  readonly requestId: string
  /** False when the gateway made the id, which then cannot be a duplicate. */
  readonly callerChoseRequestId: boolean
  readonly principal: Principal
  readonly operation: string
  readonly requestedModel: string
  /** The executing model, after aliases. */
  readonly resolvedModel: string
  readonly provider: string
  readonly upstreamModel: string
  readonly pricing: PricingIdentity
  /** Version of the config that the call started with. */
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
  /** False: the provider call failed; without usage nothing is recorded then. */
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
   * The call would have exceeded a hard limit: it is priced and kept as a rejected charge, not in
   * the ledger. The caller was served all the same.
   */
  | { readonly kind: 'rejected'; readonly costPicoUsd: bigint }
  /** Nothing was used, or the usage of a failed call is unknown. */
  | { readonly kind: 'none' }

/** What is known about the tokens of a call. */
export interface Metering {
  /** The latest counters of the upstream. */
  readonly usage: Usage | undefined
  /** The request, which limits what the counters can be. */
  readonly request: {
    /** Length of the body, in UTF-16 units. */
    readonly length: number
    readonly maxOutputTokens: number | undefined
    /** Number of requested replies. */
    readonly choices: number
  }
  /** Set for a running or incomplete stream, whose `usage` is not final. */
  readonly partial?: PartialStream | undefined
}

/** Texts of a stream, to estimate missing counters. */
export interface PartialStream {
  /** Why the stream did not complete. */
  readonly doubt: string
  /** The texts sent to the provider. */
  input(): readonly string[]
  /** Output since the provider reported `usage`: the first 256 Ki UTF-16 units. */
  readonly output: string
  /** UTF-8 bytes of output after `output`. */
  readonly moreOutputBytes: number
  /** Output came before `usage`, so `output` is in addition to it. */
  readonly continues: boolean
}

/**
 * Measures a running stream. Returns the error that ends it when it has used up a hard limit,
 * together with everything else that counts there.
 */
export type SpendWatch = (metering: Metering) => GatewayError | undefined

/** Admits calls and writes the ledger. */
export interface Accounting {
  /** From memory. Throws GatewayError `service_account_budget_required`. */
  checkOwner(principal: Principal): void
  /** Throws GatewayError: `budget_exceeded`, or `invalid_request` for a duplicate request id. */
  admit(call: AdmissionRequest): void | Promise<void>
  /** Measures a stream until it is settled; undefined if no hard limit applies to it. */
  watch?(call: DispatchedCall): SpendWatch | undefined
  /**
   * The usage to settle a finished call with: the upstream's counters unless they are impossible,
   * with estimates of what is missing in an incomplete stream.
   */
  measure?(call: DispatchedCall, metering: Metering): Usage | undefined | Promise<Usage | undefined>
  /** Resolves when the outcome is durable. Called once per admitted call. */
  settle(call: SettlementRequest): Promise<Settlement>
  /** Called after the last call is settled and before any plugin is disposed. */
  drain?(): Promise<void>
  /** Milliseconds to read a stream on after its caller left, to learn its cost. */
  abortDrainMs(): number
  /** The active budgets that apply to a call, for operators; from memory. */
  budgetsOf?(call: Spender, at: Date): readonly BudgetState[]
}

/** The facts of a call that determine its budgets. */
export type Spender = Pick<AdmissionRequest, 'principal' | 'resolvedModel' | 'upstreamModel'>

/** A budget in its current window. */
export interface BudgetState {
  readonly scopeKey: string
  readonly cadence: 'daily' | 'weekly' | 'monthly'
  readonly hardLimit: boolean
  /** Decimals in USD. */
  readonly amountUsd: string
  readonly spentUsd: string
  /** True: further calls are refused. */
  readonly exhausted: boolean
  /** RFC 3339, UTC. */
  readonly windowEnd: string
}
