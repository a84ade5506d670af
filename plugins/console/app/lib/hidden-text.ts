/** Characters that are invisible to people but not to models. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/u

export function hidesText(text: string | null): boolean {
  return text !== null && INVISIBLE.test(text)
}

/** Splits a text into visible and invisible pieces. */
export function visiblePieces(text: string): readonly { text: string; hidden: boolean }[] {
  return text
    .split(new RegExp(`(${INVISIBLE.source})`, 'u'))
    .filter((piece) => piece !== '')
    .map((piece) =>
      INVISIBLE.test(piece)
        ? {
            text: `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
            hidden: true,
          }
        : { text: piece, hidden: false },
    )
}
