import { distance as editDistance } from 'fastest-levenshtein'

const plain = (word: string) => word.toLowerCase().replace(/[-_]/g, '')

/** Whether a word of the name, with what follows, begins with a text. */
function hasWord(name: string, text: string): boolean {
  const words = name.toLowerCase().split(/[-_]|(?<=[./])/)
  return words.some((_, at) => words.slice(at).join('').startsWith(text))
}

/** The candidate that was probably meant; undefined if none is close. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const start = word.slice(0, 100)
  const wanted = plain(start)
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const known = plain(candidate)
    const shorter = Math.min(wanted.length, known.length)
    const contained = shorter >= 3 && (hasWord(candidate, wanted) || hasWord(start, known))
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, known.length) / 3))
    const edits = shorter === 0 ? Number.POSITIVE_INFINITY : editDistance(wanted, known)
    const distance = edits <= limit && edits < shorter ? edits : contained ? limit + 1 : undefined
    if (distance !== undefined && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** A hint with the closest candidate, or the list of candidates if it is short. */
export function didYouMean(word: string, candidates: Iterable<string>, list: string): string {
  const known = [...candidates]
  const near = closest(word, known)
  if (near !== undefined) return `did you mean "${near}"?`
  if (known.length === 0) return `no ${list} exist`
  return known.length <= 12 ? `${list}: ${known.join(', ')}` : `no ${list} with a similar name`
}
