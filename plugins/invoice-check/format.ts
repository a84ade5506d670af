import { type Amount, readAmount } from './amounts.ts'
import { InvoiceError, type Line, type Quantity, type Row, shown } from './line.ts'

/** One file format of a vendor. */
export interface Format {
  readonly id: string
  /** For people: where it comes from. */
  readonly title: string
  /** Files of one vendor can be read together. */
  readonly vendor: string
  /** Columns by which it is known, as `columnName` spells them. */
  readonly columns: readonly string[]
  /** Whether it says what was charged; one that does not says what was used, and goes before. */
  readonly charges: boolean
  /** Decimals that it has at least, when the file at hand shows fewer: of USD and of quantities. */
  readonly places: { readonly cost: number; readonly quantity: number }
  /** What a reader of the result has to know of its days. */
  readonly note?: string
  /** Looks at what stands before the columns, and at them as they are written. Throws InvoiceError. */
  check?(before: readonly (readonly string[])[], header: readonly string[]): void
  /** The lines of a row; none: the row is of another service. Throws InvoiceError. */
  read(row: Row): readonly Line[]
}

/** A column as formats name it: `Usage start date`, `service.description` and `Cost ($)` in one spelling. */
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

/** `a` less `b`, of whole tokens. */
export function less(a: Quantity, b: Quantity | undefined): Quantity {
  return b === undefined ? a : { ...a, scaled: a.scaled - b.scaled }
}
