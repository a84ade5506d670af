/**
 * What a spreadsheet may take for a formula: a sign, behind characters that it strips or does not show,
 * or a character that begins another cell or row. To be used on compatibility-normalised text, in which
 * full-width signs have their plain form.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@])/u
/** Nearly all cells begin so. */
const USUAL = /^[A-Za-z\d]/
const QUOTED = /[",\r\n]/

/** Text as a cell of CSV (RFC 4180) that is no formula and does not end its row. */
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
