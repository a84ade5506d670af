import type { Principal } from './identity.ts'
import type { PricingIdentity, UnpricedReason } from './provider.ts'
import type { Family } from './route.ts'
import type { Usage } from './usage.ts'

/** A call that is about to be made. */
export interface AdmissionRequest {
  readonly requestId: string
  /** False when the gateway made the id, which then cannot be a duplicate. */
  readonly callerChoseRequestId: boolean
  readonly principal: Principal
  readonly operation: Family
  readonly requestedModel: string
  /** Canonical execution model. */
  readonly resolvedModel: string
  readonly provider: string
  readonly upstreamModel: string
  readonly dispatchedAt: Date
}

/** A call that reached the provider, with what it used. */
export interface SettlementRequest extends AdmissionRequest {
  readonly pricing: PricingIdentity
  readonly usage: Usage | undefined
  readonly billingModifiers: readonly string[]
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

/** Decides before a call and writes the ledger after it. */
export interface Accounting {
  /** Throws GatewayError `service_account_budget_required`; from memory. */
  checkOwner(principal: Principal): void
  /** Throws GatewayError: `budget_exceeded`, or `invalid_request` for a duplicate request id. */
  admit(call: AdmissionRequest): void | Promise<void>
  /** Resolves when the outcome is durable. Called once for every admitted call. */
  settle(call: SettlementRequest): Promise<Settlement>
  /** Milliseconds that a stream is read on after its caller left, to learn what it cost. */
  abortDrainMs(): number
}

export interface PriceQuery {
  readonly identity: PricingIdentity
  readonly usage: Usage
  readonly billingModifiers: readonly string[]
  readonly at: Date
}

export type PriceResolution =
  | {
      readonly status: 'priced' | 'legacy_estimated'
      readonly costPicoUsd: bigint
      readonly rateId: string
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** Prices from memory: exact look-up, exact integers. */
export interface PricingSource {
  resolve(query: PriceQuery): PriceResolution
}
