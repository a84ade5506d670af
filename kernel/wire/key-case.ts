/** ASCII without capital letters: a key that folding does not change. */
const PLAIN = /^[\0-@[-\x7f]*$/

/**
 * A key as parsers that ignore case compare it. Besides A–Z it folds the non-ASCII characters that Go
 * or Java take for ASCII letters: ſ, K (Kelvin), ı and İ.
 */
export function foldKey(key: string): string {
  if (PLAIN.test(key)) return key
  // Upper case first: ſ and ı have no lower case. İ becomes an i with a combining dot.
  return key.toUpperCase().toLowerCase().replaceAll('i\u0307', 'i')
}

/** The known key that a parser which ignores case takes `key` for; undefined when it is known itself. */
export function knownInOtherCase(key: string, known: ReadonlySet<string>): string | undefined {
  if (PLAIN.test(key) || known.has(key)) return undefined
  const folded = foldKey(key)
  return known.has(folded) ? folded : undefined
}
