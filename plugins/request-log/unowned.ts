import type { ExchangeRecord } from 'model-gateway/observer'
import type { Logger } from 'pino'
import { limitedText } from '../_shared/safe-text.ts'

/** Maximum length of a caller's request id. */
const ID_LIMIT = 128

/** Counts requests that ended before their owner was known. They have no rows. */
export interface Unowned {
  /** Logs the first request of each error code since the last report, and counts the others. */
  add(exchange: ExchangeRecord): void
  /** Logs the counts. */
  report(): void
}

export function createUnowned(options: {
  readonly log: Logger
  readonly counter: { add(count: number, labels: { error_code: string }): void }
}): Unowned {
  const { log, counter } = options
  /** Number of requests after the logged one, by error code. */
  const further = new Map<string, number>()

  return {
    add({ errorCode = 'unknown', statusCode, operation, requestId }) {
      counter.add(1, { error_code: errorCode })
      const count = further.get(errorCode)
      further.set(errorCode, count === undefined ? 0 : count + 1)
      if (count !== undefined) return
      log.warn(
        {
          error_code: errorCode,
          status_code: statusCode,
          operation,
          // The id is not logged if it may be a key that was sent in the wrong header.
          request_id: limitedText(requestId, ID_LIMIT),
        },
        'a request was refused before its owner was known',
      )
    },
    report() {
      for (const [errorCode, count] of further) {
        if (count === 0) continue
        log.warn(
          { error_code: errorCode, count },
          'more requests were refused before their owner was known',
        )
      }
      further.clear()
    },
  }
}
