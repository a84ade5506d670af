import { type Amount, readAmount } from './amounts.ts'
import { InvoiceError, type Line, type Quantity, type Row, shown } from './line.ts'

/** One file format of a vendor. */
export interface Format {
  readonly id: string
  /** Display text: where the file comes from. */
  readonly title: string
  /** Files of one vendor can be read together. */
  readonly vendor: string
  /** Columns that identify it, in the spelling of `columnName`. */
  readonly columns: readonly string[]
  /** Whether it states charges. A file that states usage takes precedence for tokens. */
  readonly charges: boolean
  /** Minimum number of decimals of USD and of quantities, in case the file shows fewer. */
  readonly places: { readonly cost: number; readonly quantity: number }
  /** A note for the reader of the report about its days. */
  readonly note?: string
  /** Checks the rows before the header, and the header. Throws InvoiceError. */
  check?(before: readonly (readonly string[])[], header: readonly string[]): void
  /** The lines of a row; none if the row is for another service. Throws InvoiceError. */
  read(row: Row): readonly Line[]
}

/**
 * A normalised column name: `Usage start date`, `service.description` and `Cost ($)` in one
 * spelling.
 */
export function columnName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

/** The amount of a cell; undefined for an empty one. Throws InvoiceError that names the column. */
export function amountOf(row: Row, column: string): Amount | undefined {
  const text = row(column)
  if (text.trim() === '') return undefined
  const amount = readAmount(text)
  if (amount === undefined) throw new InvoiceError(`${column} must be a number, got ${shown(text)}`)
  return amount
}

/** Tokens of a cell; undefined for an empty one. */
export function tokensOf(
  row: Row,
  column: string,
  unit: Quantity['unit'] = 1,
): Quantity | undefined {
  const amount = amountOf(row, column)
  return amount === undefined ? undefined : { ...amount, unit }
}

/** `a` minus `b`, of whole tokens. */
export function less(a: Quantity, b: Quantity | undefined): Quantity {
  return b === undefined ? a : { ...a, scaled: a.scaled - b.scaled }
}
