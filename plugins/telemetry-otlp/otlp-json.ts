/** An attribute of a span or a resource, as OTLP JSON. */
export function attribute(key: string, value: string | number | boolean): string {
  if (typeof value === 'string') {
    return `{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}`
  }
  const type =
    typeof value === 'boolean' ? 'boolValue' : Number.isInteger(value) ? 'intValue' : 'doubleValue'
  return `{"key":"${key}","value":{"${type}":${value}}}`
}

/** Adds an attribute if it has a value. */
export function also(key: string, value: string | number | boolean | undefined): string {
  return value === undefined ? '' : `,${attribute(key, value)}`
}

/** Maximum number of cached texts; then the cache is cleared. */
const MOST_TEXTS = 1000

/**
 * Caches attributes that many spans share, by key. The text is flattened, because a concatenated
 * string would be flattened again in each span.
 */
export function keptTexts(): (key: string, make: () => readonly string[]) => string {
  const texts = new Map<string, string>()
  return (key, make) => {
    let text = texts.get(key)
    if (text === undefined) {
      text = make().join('')
      if (texts.size === MOST_TEXTS) texts.clear()
      texts.set(key, text)
    }
    return text
  }
}
