import type { AccountingSink, CommittedSettlement, SettledCall } from 'model-gateway/accounting'
import type { CallRow, Store } from './store.ts'

/** Stores each call as one row, written when `record` resolves. Up to 16 calls run at a time. */
export function createSink(store: Store): AccountingSink {
  return {
    async record(call, settlement) {
      store.add(rowOf(call, settlement))
    },
  }
}

export function rowOf(call: SettledCall, settlement: CommittedSettlement): CallRow {
  return {
    request_id: call.requestId,
    owner: call.caller.ownershipScopeKey,
    at: call.dispatchedAt,
    model: call.resolvedModel,
    provider: call.provider,
    kind: settlement.kind,
    pricing_status: settlement.kind === 'ledger' ? settlement.pricingStatus : null,
    cost_pico_usd: settlement.costPicoUsd ?? null,
    prompt_tokens: call.usage?.promptTokens ?? null,
    output_tokens: call.usage?.output ?? null,
  }
}
