/** `'a b c'` as a list, whatever white space is between its words. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/**
 * The same as a set.
 *
 * @example wordSet('doas sudo').has('sudo') // true
 */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordList(text))
}
