/** A row to write: a JSON object, and optional members (payloads) that may be dropped. */
export interface BatchRow {
  readonly json: string
  /** `"name":value,…` */
  readonly payload: string | undefined
  /** Rows of one group are written in order; a row without a group is independent. */
  readonly group?: string
}

/**
 * Rows with their payloads as a JSON array, in one parameter, because each part would cost a copy.
 */
export function arrayOf(rows: readonly BatchRow[]): string {
  const pieces: string[] = []
  for (const { json, payload } of rows) {
    pieces.push(pieces.length === 0 ? '[' : ',')
    if (payload === undefined) pieces.push(json)
    else pieces.push(json.slice(0, -1), ',', payload, '}')
  }
  pieces.push(pieces.length === 0 ? '[]' : ']')
  return pieces.join('')
}

/** Whether the database rejected one of the rows, rather than being unreachable. */
export function isRowFault(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)
}

/** The column names of a record type: `id uuid, name text` has `id` and `name`. */
export function columnNames(columns: string): string[] {
  return columns.split(',').map((column) => column.trim().split(' ', 1)[0] ?? '')
}
