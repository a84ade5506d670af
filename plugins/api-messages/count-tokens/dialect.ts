import { GatewayError, isJsonObject } from 'model-gateway/plugin'
import type { Dialect } from 'model-gateway/surface'
import type { Logger } from 'pino'
import { createTokenCounter } from '../../_shared/token-counter.ts'
import { estimateTokens } from './estimate.ts'

export const COUNT_TOKENS = 'messages.count_tokens'

/** Marks an estimated count. */
const ESTIMATED = { 'x-gateway-estimated': 'true' }

/** The number of tokens of a messages prompt, from the route's token counter or an estimate. */
export function createCountTokens({ log }: { readonly log: Logger }) {
  const counter = createTokenCounter({ log })
  const dialect: Dialect = {
    id: COUNT_TOKENS,
    namesModel: false,
    readReply(body) {
      const tokens = isJsonObject(body) ? body.input_tokens : undefined
      if (Number.isSafeInteger(tokens) && (tokens as number) >= 0) {
        return { usage: undefined, invokedToolCount: undefined }
      }
      throw new GatewayError(
        'upstream_transport',
        'malformed reply of the upstream: input_tokens is not a count',
      )
    },
    async answer(request, { upstreamModel }) {
      const input_tokens = await estimateTokens(request, upstreamModel, counter)
      return { kind: 'buffered', body: { input_tokens }, headers: ESTIMATED }
    },
  }
  return { dialect, close: counter.close }
}
