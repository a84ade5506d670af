import { dayOf, instantOf } from '../_shared/instant.ts'
import type { Amount } from './amounts.ts'

/** Days since 1970-01-01, in UTC. */
export type Day = number

/** Days from `start` to before `end`. */
export interface Period {
  readonly start: Day
  readonly end: Day
}

/** Token buckets of the ledger; `prompt` is the whole input of a file that does not split it. */
export type Bucket = 'input' | 'cache_read' | 'cache_write' | 'output' | 'prompt'

/** The model name of lines that sum all models. */
export const ALL_MODELS = '*'

/** A row of a file, in the same form for all formats. */
export type Line = Period &
  (
    | {
        readonly kind: 'usage'
        /** As in the file. */
        readonly model: string
        /** Absent if the charge is for all tokens. */
        readonly bucket?: Bucket
        readonly quantity?: Quantity
        readonly requests?: bigint
        readonly cost?: Amount
        /** A service tier or other non-standard condition of the price. */
        readonly tier?: string
      }
    /** A charge for something other than tokens: searches, storage, training. */
    | { readonly kind: 'fee'; readonly label: string; readonly cost: Amount }
    /** Taxes, credits and discounts, which the ledger never records. */
    | { readonly kind: 'apart'; readonly label: string; readonly cost: Amount }
    /** The day is in the file, without usage. */
    | { readonly kind: 'nothing' }
  )

export interface Quantity extends Amount {
  /** Tokens per unit of the file. */
  readonly unit: 1 | 1_000 | 1_000_000
}

/** A cell by column name; empty if the column is missing. */
export type Row = (column: string) => string

/** The error for an unreadable file, with the place. */
export class InvoiceError extends Error {
  override readonly name = 'InvoiceError'
}

/** A cell for a message: its beginning, quoted, with control characters escaped. */
export function shown(cell: string): string {
  return JSON.stringify(cell.length > 60 ? `${cell.slice(0, 60)}…` : cell)
}

const DAY_MS = 86_400_000
const SECONDS = /^\d{9,11}(?:\.0+)?$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
/** `2026-03-01 07:00:00 UTC`, `2026-03-01 07:00:00+00`, `2026-03-01 07:00:00.000`. */
const SPACED = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d+)?)\s*(?:UTC|Z|\+00(?::?00)?)?$/

/** The instant of a cell, in milliseconds. Throws InvoiceError that names the column. */
function readInstant(row: Row, column: string): number {
  const text = row(column).trim()
  const spaced = SPACED.exec(text)
  const at = SECONDS.test(text)
    ? new Date(Number(text) * 1000)
    : DAY.test(text)
      ? dayOf(text)
      : instantOf(spaced === null ? text : `${spaced[1]}T${spaced[2]}Z`)
  if (at !== undefined) return at.getTime()
  throw new InvoiceError(
    `${column} must be a time such as 2026-03-01T00:00:00Z, or seconds since 1970, got ${shown(text)}`,
  )
}

/** The days from one column to another; the time of the second one is exclusive. */
export function readPeriod(row: Row, from: string, to: string): Period {
  const start = Math.floor(readInstant(row, from) / DAY_MS)
  const end = row(to) === '' ? start + 1 : Math.ceil(readInstant(row, to) / DAY_MS)
  return { start, end: Math.max(end, start + 1) }
}

/** The day of a column, or the days up to and including that of another column. */
export function readDays(row: Row, first: string, last = first): Period {
  const start = Math.floor(readInstant(row, first) / DAY_MS)
  const end = row(last) === '' ? start : Math.floor(readInstant(row, last) / DAY_MS)
  return { start, end: Math.max(end, start) + 1 }
}

/** Throws InvoiceError unless the currency is USD, the currency of the ledger. */
export function requireUsd(row: Row, column: string): void {
  const currency = row(column).trim()
  if (currency === '' || currency.toUpperCase() === 'USD') return
  throw new InvoiceError(`${column} must be USD, got ${shown(currency)}`)
}
