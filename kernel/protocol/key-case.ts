/** Letters that are others in lower case, or become others by way of upper case. */
const FOLDED = /[A-Zſ\u212a]/

/** Whether a parser to which the case of a key is nothing, as Go's, takes it for a known one. */
export function isMisspelt(key: string, known: ReadonlySet<string>): boolean {
  // Upper case first: `ſ` has none of its own.
  return FOLDED.test(key) && !known.has(key) && known.has(key.toUpperCase().toLowerCase())
}
