/** ASCII without capitals: folding does not change such a key. */
const PLAIN = /^[\0-@[-\x7f]*$/

/**
 * Folds a key as parsers that ignore case do. In addition to A–Z, folds the non-ASCII characters
 * that Go or Java match with ASCII letters: ſ, K (Kelvin), ı and İ.
 */
export function foldKey(key: string): string {
  if (PLAIN.test(key)) return key
  // Upper case first, because ſ and ı have no lower case. İ becomes i with a combining dot.
  return key.toUpperCase().toLowerCase().replaceAll('i\u0307', 'i')
}

/** The known key that a parser which ignores case reads for `key`; undefined if `key` is known. */
export function knownInOtherCase(key: string, known: ReadonlySet<string>): string | undefined {
  if (PLAIN.test(key) || known.has(key)) return undefined
  const folded = foldKey(key)
  return known.has(folded) ? folded : undefined
}
