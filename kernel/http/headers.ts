/** All headers of a request, names in lower case. */
export function headersOf(headers: Headers): Record<string, string> {
  const all: Record<string, string | string[]> = headers.toJSON()
  // The runtime gives the values of this one apart. Callers have no business to send it.
  const cookies = all['set-cookie']
  if (Array.isArray(cookies)) all['set-cookie'] = cookies.join(', ')
  return all as Record<string, string>
}
