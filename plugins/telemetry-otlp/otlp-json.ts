/** An attribute of a span or a resource, as OTLP has it in JSON. */
export function attribute(key: string, value: string | number | boolean): string {
  if (typeof value === 'string') {
    return `{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}`
  }
  const type =
    typeof value === 'boolean' ? 'boolValue' : Number.isInteger(value) ? 'intValue' : 'doubleValue'
  return `{"key":"${key}","value":{"${type}":${value}}}`
}

/** One attribute more, where there is a value. */
export function also(key: string, value: string | number | boolean | undefined): string {
  return value === undefined ? '' : `,${attribute(key, value)}`
}

/** Most texts that are kept; after that all are made anew. */
const MOST_TEXTS = 1000

/**
 * Attributes that many spans have alike, made once for each key. They are joined for good: texts
 * that are only added to each other are put together anew in each span.
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
