import { PIECE_CHARS } from './batch-pieces.ts'

export interface Limits {
  readonly batchRows: number
  /** Size of a batch that waits for no more rows, in characters. */
  readonly batchChars: number
  /**
   * Size of a batch of rows that came while another one was being written; one row may be larger. Its
   * pieces take connections that the ledger needs, too.
   */
  readonly mostChars: number
  /** Longest time that a row waits for others. */
  readonly gatherMs: number
  /** Size of all waiting rows together without their payloads, in characters. */
  readonly queueChars: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** Longest time for one batch to be written. */
  readonly writeMs: number
  /** Rows that could not be written for so long go to the spool. */
  readonly awayMs: number
  /** How long disposal waits for the waiting rows to be written; then they go to the spool. */
  readonly drainMs: number
}

/** A usual row has about 1,000 characters. */
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
