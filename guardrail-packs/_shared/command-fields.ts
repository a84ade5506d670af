import type { SimpleCommand, Word } from './command.ts'
import { noCommands, noWords } from './command-state.ts'
import { spend } from './work.ts'

/** A part of a word, before it is split into fields. */
export interface Piece {
  readonly text: string
  readonly dynamic: boolean
  readonly quoted: boolean
  readonly produced: readonly SimpleCommand[]
  readonly content?: string
  /** An unquoted expansion: white space in it ends a field. */
  readonly split?: boolean
  /** An array: separate fields. */
  readonly fields?: readonly Word[]
  /** `$@` and similar, nothing without arguments. */
  readonly vanishing?: boolean
}

export const emptyPiece: Piece = { text: '', dynamic: false, quoted: false, produced: noCommands }

/** The pieces as one word. */
export function wordOf(pieces: readonly Piece[]): Word {
  let text = ''
  let dynamic = false
  let quoted = false
  let produced = noCommands
  let content: string | undefined
  for (const piece of pieces) {
    if (piece.fields) text += piece.fields.map((field) => field.text).join(' ')
    else if (!(piece.vanishing && pieces.length > 1)) text += piece.text
    dynamic ||= piece.dynamic || (piece.fields?.some((field) => field.dynamic) ?? false)
    quoted ||= piece.quoted
    if (piece.produced.length > 0) {
      spend(produced.length + piece.produced.length)
      produced = [...produced, ...piece.produced]
    }
    content ??= piece.content
  }
  const word = { text, dynamic, quoted, produced }
  return content === undefined ? word : { ...word, content }
}

/** The fields of a sequence of parts. */
export function fieldsOf(pieces: readonly Piece[]): readonly Word[] {
  // Paid for by size, because variables may be large and used many times.
  for (const { fields, text } of pieces)
    spend(fields === undefined ? 2 + (text.length >> 2) : 2 * fields.length)
  const [only] = pieces
  if (pieces.length === 1 && only?.fields) return only.fields
  const fields: Word[] = []
  let run: Piece[] = []
  function endField(): void {
    const word = wordOf(run)
    if (word.text !== '' || word.quoted || word.dynamic) fields.push(word)
    run = []
  }
  for (const piece of pieces) {
    if (piece.fields !== undefined) {
      piece.fields.forEach((field, at) => {
        if (at > 0) endField()
        run.push({ ...field, quoted: true })
      })
    } else if (piece.vanishing && pieces.length > 1) {
      run.push({ ...piece, text: '' })
    } else if (piece.split && piece.produced.length === 0 && /\s/.test(piece.text)) {
      piece.text.split(/\s+/).forEach((text, at) => {
        if (at > 0) endField()
        run.push({ ...piece, text, dynamic: piece.dynamic && /[$`]/.test(text) })
      })
    } else run.push(piece)
  }
  if (run.length > 0) endField()
  return fields.length === 0 ? noWords : fields
}
