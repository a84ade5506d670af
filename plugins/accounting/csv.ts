/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",\r\n]/

/** Rows as CSV (RFC 4180): no cell is a formula, and none ends its row. */
export function csv(rows: Iterable<readonly string[]>): string {
  let text = ''
  for (const row of rows) text += `${row.map(cell).join(',')}\r\n`
  return text
}

function cell(value: string): string {
  const harmless = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
