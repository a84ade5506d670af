/** Escapes of JSON text, those of backslashes too, so that what follows these is none. */
const ESCAPES = /\\\\|(?:\\u[\da-f]{4})+|\\\//gi

/**
 * JSON text without the escapes that it does not need: whoever looks for a word in it finds it as
 * its reader does. All else stays as it is written.
 */
export function plainJson(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(ESCAPES, (escaped) =>
    escaped === '\\\\' ? escaped : JSON.stringify(JSON.parse(`"${escaped}"`)).slice(1, -1),
  )
}
