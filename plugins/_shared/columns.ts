/** The names in the columns of a record type: `id uuid, name text` has `id` and `name`. */
export function columnNames(columns: string): string[] {
  return columns.split(',').map((column) => column.trim().split(' ', 1)[0] ?? '')
}
