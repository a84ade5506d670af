import { dayOf, instantOf } from '../_shared/instant.ts'
import type { Amount } from './amounts.ts'

/** Days since 1970-01-01, in UTC. */
export type Day = number

/** Days from `start` on and before `end`. */
export interface Period {
  readonly start: Day
  readonly end: Day
}

/** Token buckets as the ledger has them; `prompt` is all input of a file that does not split it. */
export type Bucket = 'input' | 'cache_read' | 'cache_write' | 'output' | 'prompt'

/** The model of lines that are sums over all models. */
export const ALL_MODELS = '*'

/** What a row of a file says, in the terms of all formats. */
export type Line = Period &
  (
    | {
        readonly kind: 'usage'
        /** As the file has it. */
        readonly model: string
        /** Absent: the charge is of all tokens. */
        readonly bucket?: Bucket
        readonly quantity?: Quantity
        readonly requests?: bigint
        readonly cost?: Amount
        /** A service tier or another condition of the price, where it is not the standard. */
        readonly tier?: string
      }
    /** A charge that is not for tokens: searches, storage, training. */
    | { readonly kind: 'fee'; readonly label: string; readonly cost: Amount }
    /** Taxes, credits and discounts, which the ledger never has. */
    | { readonly kind: 'apart'; readonly label: string; readonly cost: Amount }
    /** The file knows the day, and nothing was used. */
    | { readonly kind: 'nothing' }
  )

export interface Quantity extends Amount {
  /** Tokens for each unit of the file. */
  readonly unit: 1 | 1_000 | 1_000_000
}

/** A cell by the name of its column; empty for one that is not there. */
export type Row = (column: string) => string

/** Where and why a file cannot be read. */
export class InvoiceError extends Error {
  override readonly name = 'InvoiceError'
}

/** A cell as a message shows it: its beginning, in quotes, with control characters escaped. */
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

/** The days from one column to another, whose time is not in the period any more. */
export function readPeriod(row: Row, from: string, to: string): Period {
  const start = Math.floor(readInstant(row, from) / DAY_MS)
  const end = row(to) === '' ? start + 1 : Math.ceil(readInstant(row, to) / DAY_MS)
  return { start, end: Math.max(end, start + 1) }
}

/** The day of a column, or the days to another, which is in the period. */
export function readDays(row: Row, first: string, last = first): Period {
  const start = Math.floor(readInstant(row, first) / DAY_MS)
  const end = row(last) === '' ? start : Math.floor(readInstant(row, last) / DAY_MS)
  return { start, end: Math.max(end, start) + 1 }
}

/** Throws InvoiceError for money that is not USD, which the ledger has. */
export function requireUsd(row: Row, column: string): void {
  const currency = row(column).trim()
  if (currency === '' || currency.toUpperCase() === 'USD') return
  throw new InvoiceError(`${column} must be USD, got ${shown(currency)}`)
}
