/**
 * Matches text that a spreadsheet may run as a formula: a sign, possibly after characters that it
 * strips or hides, or a character that starts another cell or row. Apply it to
 * compatibility-normalised text, which maps full-width signs to plain ones.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@])/u
/** Fast path: most cells start with one of these characters. */
const USUAL = /^[A-Za-z\d]/
const QUOTED = /[",\r\n]/

/** A CSV cell (RFC 4180) that is not a formula and does not end its row. */
export function cell(value: string): string {
  const harmless = isFormula(value) ? `'${value}` : value
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

function isFormula(value: string): boolean {
  return !USUAL.test(value) && FORMULA.test(value.normalize('NFKC'))
}

/** A row of CSV. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}
