import { appendFile } from 'node:fs/promises'
import type { AccountingSink, CommittedSettlement, SettledCall } from 'model-gateway/accounting'

/**
 * `record` resolves after the call is written. Up to sixteen calls are recorded at the same time.
 */
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
    // A string, because a JSON number cannot hold it exactly.
    cost_pico_usd: costPicoUsd === undefined ? null : String(costPicoUsd),
    prompt_tokens: call.usage?.promptTokens ?? null,
    output_tokens: call.usage?.output ?? null,
  })
}
