/** What is shorter stands in texts by chance: to mask it would protect nothing. */
const SHORTEST = 4

/**
 * The texts in which whoever is sent header values may repeat them: with their scheme and without it,
 * the password of `Basic`, and each as it stands in JSON and in JSON within JSON. The longest come
 * first, so that none hides another from a mask.
 */
export function credentialForms(values: readonly string[]): readonly string[] {
  // Tool calls of servers that want no credentials come by here, too.
  if (values.length === 0) return []
  const forms = values
    .flatMap(credentialsOf)
    .filter(({ length }) => length >= SHORTEST)
    .flatMap(asJson)
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** Masks the forms in somebody else's words. */
export function maskForms(text: string, forms: readonly string[]): string {
  return forms.reduce((masked, form) => masked.replaceAll(form, '[redacted]'), text)
}

function credentialsOf(value: string): string[] {
  const whole = value.trim()
  const { 1: scheme = '', 2: bare } = /^(\S+)\s+(.+)$/s.exec(whole) ?? []
  if (bare === undefined) return [whole]
  if (scheme.toLowerCase() !== 'basic') return [whole, bare]
  const pair = Buffer.from(bare, 'base64').toString('utf8')
  return [whole, bare, pair.slice(pair.indexOf(':') + 1)]
}

function asJson(text: string): string[] {
  const inJson = writings(text)
  return [text, ...inJson, ...inJson.flatMap(writings)]
}

/** Between the quotes of a JSON string. Some writers escape the slash as well. */
function writings(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  return [escaped, escaped.replaceAll('/', '\\/')]
}
