/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",\r\n]/

/** Text as a cell of CSV (RFC 4180) that is no formula and does not end its row. */
export function cell(value: string): string {
  const harmless = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A row of CSV. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}
