/** Values of a name that are looked at: browsers send one for each path and domain. */
const MOST_VALUES = 4

/** The values of a cookie in the order of the request: the first four that are not empty. */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  const values: string[] = []
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const [key, value = ''] = pair.split('=', 2)
    if (key?.trim() === name && value.trim() !== '') values.push(value.trim())
    if (values.length === MOST_VALUES) break
  }
  return values
}
