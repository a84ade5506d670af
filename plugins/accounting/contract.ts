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

export type PriceResolution =
  | {
      readonly status: 'priced' | 'legacy_estimated'
      readonly costPicoUsd: bigint
      readonly rateId: string
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** What a route's calls cost at a time, for people to read. */
export type RateResolution =
  | {
      readonly status: 'priced'
      readonly rateId: string
      /** Where it stands, such as the bundled list or the config. */
      readonly source: string
      /** USD per million tokens as plain decimals; `undefined`: such tokens have no price. */
      readonly usdPerMillion: Readonly<
        Record<'input' | 'output' | 'cache_read' | 'cache_write', string | undefined>
      >
      /** In tokens; longer prompts have no price. Absent: all have this one. */
      readonly longestPrompt?: number
    }
  | { readonly status: 'unpriced'; readonly reason: UnpricedReason }

/** Prices from memory: exact look-up, exact integers. */
export interface PricingSource {
  resolve(query: PriceQuery): PriceResolution
  rates?(identity: PricingIdentity, at: Date): RateResolution
}

export const accountingSinks = extensionPoint<AccountingSink>('accounting_sinks', 'many', {
  shape: Type.Object({ record: Shape.method() }),
})
export const pricingSource = extensionPoint<PricingSource>('pricing_source', 'one', {
  shape: Type.Object({ resolve: Shape.method() }),
})
