import { appendFile } from 'node:fs/promises'
import type { AccountingSink, CommittedSettlement, SettledCall } from 'model-gateway/accounting'

/** A sink that has written a call when `record` resolves. Up to sixteen are told at a time. */
export function createSink(path: string): AccountingSink {
  return {
    async record(call, settlement) {
      await appendFile(path, `${lineOf(call, settlement)}\n`)
    },
  }
}

function lineOf(call: SettledCall, settlement: CommittedSettlement): string {
  const { costPicoUsd } = settlement
  return JSON.stringify({
    request_id: call.requestId,
    at: call.dispatchedAt,
    owner: call.caller.ownershipScopeKey,
    model: call.resolvedModel,
    provider: call.provider,
    outcome: settlement.kind === 'rejected' ? 'rejected' : settlement.pricingStatus,
    // A text: numbers of JSON have no room for it.
    cost_pico_usd: costPicoUsd === undefined ? null : String(costPicoUsd),
    prompt_tokens: call.usage?.promptTokens ?? null,
    output_tokens: call.usage?.output ?? null,
  })
}
