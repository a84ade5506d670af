/** `text` as Postgres can hold it: without NUL characters and halves of characters. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
