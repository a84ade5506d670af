/** Escapes in JSON text, including escaped backslashes, so that what follows is not one. */
const ESCAPES = /\\\\|(?:\\u[\da-f]{4})+|\\\//gi

/**
 * Removes unnecessary escapes from JSON text, so that a search finds words as readers see them. All
 * else is unchanged.
 */
export function plainJson(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(ESCAPES, (escaped) =>
    escaped === '\\\\' ? escaped : JSON.stringify(JSON.parse(`"${escaped}"`)).slice(1, -1),
  )
}
