/** What plugins around spend import, as `model-gateway/accounting`. */

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
// The point at which the kernel asks for it.
export { accounting } from '../../kernel/plugin/points.ts'
export { errors as accountingErrors } from './errors.ts'

/** A call whose outcome is durable. A frozen copy. */
export interface SettledCall
  extends Omit<SettlementRequest, 'principal' | 'callerChoseRequestId' | 'dispatchedAt'> {
  readonly caller: Caller
  /** RFC 3339, UTC. */
  readonly dispatchedAt: string
}

/** A settlement that something was written for. */
export type CommittedSettlement = Exclude<Settlement, { readonly kind: 'none' }>

/**
 * Told of every ledger row and rejected charge, after it is durable and off the request path, once
 * and as well as it can be: what is thrown, what takes longer than ten seconds, and what comes
 * faster than it can be taken is counted, logged and not told again. Up to sixteen at a time.
 */
export interface AccountingSink {
  record(call: SettledCall, settlement: CommittedSettlement): Promise<void>
}

export interface PriceQuery {
  readonly identity: PricingIdentity
  /** Of the config that the call began with, whose prices count. */
  readonly configVersion: string
  readonly usage: Usage
  readonly billingModifiers: readonly string[]
  readonly at: Date
}

/** One part of what a call costs: a unit such as `input`, how much of it, and its price. */
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
      /** Absent: the seller has stated the cost. */
      readonly rateId?: string
      /** Where the prices stand: the bundled list, the config, or the seller's reply. */
      readonly source?: string
      /** What the cost is the sum of. */
      readonly items?: readonly LineItem[]
      /** Why what is stated cannot all be true, where the usage does not say. */
      readonly doubt?: string | undefined
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** What a route's calls cost at a time, for people to read. */
export type RateResolution =
  | {
      readonly status: 'priced'
      readonly rateId: string
      /** Where it stands, such as the bundled list or the config. */
      readonly source: string
      readonly usual: PriceSheet
      /** Of other service tiers, by name. */
      readonly tiers: Readonly<Record<string, PriceSheet>>
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** Plain decimals by unit: USD per million tokens, or per thousand calls and uses of tools. */
export interface PriceSheet {
  readonly prices: Readonly<Record<string, string>>
  /** Those of longer prompts, shortest first. */
  readonly longPrompts: readonly {
    readonly aboveTokens: number
    readonly prices: Readonly<Record<string, string>>
  }[]
}

/** Prices from memory: exact look-up, exact integers. */
export interface PricingSource {
  resolve(query: PriceQuery): PriceResolution
  rates?(identity: PricingIdentity, at: Date): RateResolution
  /** Whole names of the models that have prices in a list at a time. */
  models?(pricingProviderId: string, at: Date): readonly string[]
}

export const accountingSinks = extensionPoint<AccountingSink>('accounting_sinks', 'many', {
  shape: Type.Object({ record: Shape.method() }),
})
export const pricingSource = extensionPoint<PricingSource>('pricing_source', 'one', {
  shape: Type.Object({ resolve: Shape.method() }),
})
