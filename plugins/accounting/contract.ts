/** The module `model-gateway/accounting`, for plugins that read spend. */

import type { Caller } from 'model-gateway/middleware'
import { extensionPoint, Shape, Type } from 'model-gateway/plugin'
import type { PricingIdentity, UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import type { Settlement, SettlementRequest } from '../../kernel/plugin/accounting.ts'

export type {
  Accounting,
  AdmissionRequest,
  BudgetState,
  DispatchedCall,
  Metering,
  PartialStream,
  PricingStatus,
  Settlement,
  SettlementRequest,
  Spender,
  SpendWatch,
} from '../../kernel/plugin/accounting.ts'
// The extension point that the kernel calls.
export { accounting } from '../../kernel/plugin/points.ts'
export { errors as accountingErrors } from './errors.ts'

/** A settled call, as a frozen copy. */
export interface SettledCall
  extends Omit<SettlementRequest, 'principal' | 'callerChoseRequestId' | 'dispatchedAt'> {
  readonly caller: Caller
  /** RFC 3339, UTC. */
  readonly dispatchedAt: string
}

/** A settlement that wrote a ledger row or a rejected charge. */
export type CommittedSettlement = Exclude<Settlement, { readonly kind: 'none' }>

/**
 * Receives every ledger row and rejected charge once, after it is durable and off the request path,
 * on a best-effort basis. Calls that throw, take longer than ten seconds or overflow the queue are
 * counted, logged and not repeated. At most sixteen calls run at a time.
 */
export interface AccountingSink {
  record(call: SettledCall, settlement: CommittedSettlement): Promise<void>
}

export interface PriceQuery {
  readonly identity: PricingIdentity
  /** The config version that the call began with; its prices apply. */
  readonly configVersion: string
  readonly usage: Usage
  readonly billingModifiers: readonly string[]
  readonly at: Date
}

/** One item of the cost of a call: a unit such as `input`, its quantity and its price. */
export interface LineItem {
  readonly unit: string
  readonly quantity: number
  /** USD × 10⁻¹² per token, use or call. */
  readonly picoUsdPerUnit: bigint
}

export type PriceResolution =
  | {
      readonly status: 'priced' | 'legacy_estimated'
      readonly costPicoUsd: bigint
      /** Absent if the seller stated the cost. */
      readonly rateId?: string
      /** Source of the prices: the bundled list, the config, or the seller's reply. */
      readonly source?: string
      /** Items that add up to the cost. */
      readonly items?: readonly LineItem[]
      /** Why the stated values are inconsistent, if the usage itself does not say so. */
      readonly doubt?: string | undefined
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** The prices of a route's calls at a time, for display. */
export type RateResolution =
  | {
      readonly status: 'priced'
      readonly rateId: string
      /** Its source, such as the bundled list or the config. */
      readonly source: string
      readonly usual: PriceSheet
      /** Prices of other service tiers, by name. */
      readonly tiers: Readonly<Record<string, PriceSheet>>
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** Plain decimals by unit: USD per million tokens, or per thousand calls and uses of tools. */
export interface PriceSheet {
  readonly prices: Readonly<Record<string, string>>
  /** Prices of longer prompts, shortest first. */
  readonly longPrompts: readonly {
    readonly aboveTokens: number
    readonly prices: Readonly<Record<string, string>>
  }[]
}

/** Prices from memory: exact look-up, exact integers. */
export interface PricingSource {
  resolve(query: PriceQuery): PriceResolution
  rates?(identity: PricingIdentity, at: Date): RateResolution
  /** Full names of the models that have prices in a list at a time. */
  models?(pricingProviderId: string, at: Date): readonly string[]
}

export const accountingSinks = extensionPoint<AccountingSink>('accounting_sinks', 'many', {
  shape: Type.Object({ record: Shape.method() }),
})
export const pricingSource = extensionPoint<PricingSource>('pricing_source', 'one', {
  shape: Type.Object({ resolve: Shape.method() }),
})
