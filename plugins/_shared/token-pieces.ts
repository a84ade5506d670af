/**
 * Maximum piece, because the time for a text without spaces grows with the square of its length.
 */
const LONGEST_PIECE = 1024

/** Splits the text into pieces that are counted fast. Surrogate pairs stay together. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = at + LONGEST_PIECE
    if (isHighSurrogate(text.charCodeAt(end - 1))) end--
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
