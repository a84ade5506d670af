import { PIECE_CHARS } from './batch-pieces.ts'

export interface Limits {
  readonly batchRows: number
  /** Size of a batch that is written without waiting for more rows, in characters. */
  readonly batchChars: number
  /**
   * Maximum size of a batch of rows that arrived during the previous write; one row may be larger.
   * Limited, because its pieces use connections that the ledger needs too.
   */
  readonly mostChars: number
  /** Maximum time that a row waits for others. */
  readonly gatherMs: number
  /** Maximum size of all waiting rows without payloads, in characters. */
  readonly queueChars: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** Timeout of one batch. */
  readonly writeMs: number
  /** Rows that could not be written for this long go to the spool. */
  readonly awayMs: number
  /** How long shutdown waits for waiting rows to be written; then they go to the spool. */
  readonly drainMs: number
}

/** A typical row has about 1,000 characters. */
export const usualLimits: Limits = {
  batchRows: 500,
  batchChars: PIECE_CHARS,
  mostChars: 3 * PIECE_CHARS,
  gatherMs: 100,
  queueChars: 32 * 1024 * 1024,
  retryMinMs: 100,
  retryMaxMs: 2_000,
  writeMs: 4_000,
  awayMs: 2_000,
  drainMs: 4_000,
}
