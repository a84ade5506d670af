/** Whether the database refused one of the rows, rather than being out of reach. */
export function isRowFault(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)
}
