import type { ParameterExpansionPart, SyntaxNode, Word as WordNode, WordPart } from 'unbash'
import type { Word } from './command.ts'
import { braceAlternatives } from './command-braces.ts'
import { expanded } from './command-environment.ts'
import { emptyPiece, fieldsOf, type Piece, wordOf } from './command-fields.ts'
import { endsLine, knownWord, withoutReturn } from './command-known.ts'
import { parseShell, payForParts } from './command-scan.ts'
import { limits, literal, noCommands, type Place } from './command-state.ts'
import { runSubstitution, walkSubstitutions } from './command-substitutions.ts'
import { OverCap, spend } from './work.ts'

/** The fields of a word: usually one; none for an empty expansion, several for `{a,b}`. */
export function expandWord(node: WordNode, place: Place): readonly Word[] {
  const known = knownWord(node)
  if (known !== undefined) return [known]
  const fields = expandFields(node, place)
  if (!endsLine(node.text)) return fields
  return fields.map(withoutReturn).filter(({ text, quoted }) => text !== '' || quoted)
}

function expandFields(node: WordNode, place: Place): readonly Word[] {
  if (!special(node.text)) return [plain(node)]
  const parts = readParts(node)
  if (parts === undefined) return [plain(node)]
  let sequences: Piece[][] = [[]]
  for (const part of parts) {
    const choices: readonly (readonly Piece[])[] =
      part.type === 'BraceExpansion'
        ? braceChoices(part.text, place)
        : [[pieceOf(part, place, false)]]
    if (sequences.length * choices.length > limits.braces) throw new OverCap('too_many')
    spend(2 + sequences.length * choices.length)
    const [only = []] = choices
    if (choices.length === 1) for (const pieces of sequences) pieces.push(...only)
    else {
      for (const pieces of sequences) spend(choices.length * pieces.length)
      sequences = sequences.flatMap((pieces) => choices.map((choice) => [...pieces, ...choice]))
    }
  }
  return sequences.flatMap(fieldsOf)
}

/** A word that the shell neither splits nor brace-expands: an assignment, a redirect's target. */
export function singleWord(node: WordNode, place: Place): Word {
  const known = knownWord(node)
  if (known !== undefined) return known
  const word = operandWord(node, place)
  return endsLine(node.text) ? withoutReturn(word) : word
}

/** The same where quotes may be literal: an operand of `"${x:-'a'}"`. */
function operandWord(node: WordNode, place: Place): Word {
  const parts = special(node.text) ? readParts(node) : undefined
  if (parts === undefined) return plain(node)
  const word = wordOf(parts.map((part) => pieceOf(part, place, true)))
  spend(word.text.length >> 2)
  return word
}

function readParts(node: WordNode): WordNode['parts'] {
  payForParts(node.text)
  return node.parts
}

/** The text of a heredoc; without a quoted delimiter, `parts` are its expansions. */
export function expandText(
  text: string,
  parts: readonly WordPart[] | undefined,
  place: Place,
): Word {
  if (parts === undefined) return literal(text)
  if (parts.length === 0) return literal(text.replace(/\\([$`\\])|\\\n/g, '$1'))
  return wordOf(parts.map((part) => pieceOf(part, place, true)))
}

/** The value that an assignment sets. */
export function assignedWords(
  value: Extract<SyntaxNode, { type: 'Word' | 'ArrayValue' }>,
  place: Place,
): readonly Word[] {
  if (value.type === 'ArrayValue')
    return value.elements.flatMap((element) => expandWord(element, place))
  return [singleWord(value, place)]
}

/** Whether a word contains an expansion. */
function special(source: string): boolean {
  return /[$`{(]/.test(source)
}

function plain(node: WordNode): Word {
  return {
    text: node.value,
    dynamic: false,
    quoted: node.value !== node.text,
    produced: noCommands,
  }
}

function braceChoices(source: string, place: Place): readonly (readonly Piece[])[] {
  return braceAlternatives(source, limits.braces + 1).map((alternative) => {
    if (!/["'\\$`]/.test(alternative)) return [{ ...emptyPiece, text: alternative }]
    const command = parseShell(`: ${alternative}`).commands[0]?.command
    const word = command?.type === 'Command' ? command.suffix[0] : undefined
    if (word?.type !== 'Word') return [{ ...emptyPiece, text: alternative }]
    if (word.parts === undefined) return [{ ...emptyPiece, text: word.value, quoted: true }]
    return word.parts.map((part) => pieceOf(part, place, false))
  })
}

function pieceOf(part: WordPart, place: Place, quotes: boolean): Piece {
  spend(8)
  switch (part.type) {
    case 'Literal':
      return { ...emptyPiece, text: part.value, quoted: part.value !== part.text }
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { ...emptyPiece, text: part.value, quoted: true }
    case 'DoubleQuoted':
    case 'LocaleString': {
      const pieces = part.parts.map((child) => pieceOf(child, place, true))
      const [only] = pieces
      if (pieces.length === 1 && only !== undefined && (only.fields || only.vanishing))
        return { ...only, quoted: true, split: false }
      return { ...wordOf(pieces), quoted: true }
    }
    case 'SimpleExpansion':
      return variable(part.text.slice(1), part.text, place, quotes)
    case 'ParameterExpansion':
      return parameter(part, place, quotes)
    case 'CommandExpansion': {
      const { output, produced } = runSubstitution(part, place, '$()')
      if (output === undefined) return { text: part.text, dynamic: true, quoted: false, produced }
      const text = output.replace(/(?<!\n)\n+$/, '')
      return { ...emptyPiece, text, split: !quotes }
    }
    case 'ProcessSubstitution': {
      const { output, produced } = runSubstitution(part, place, `${part.operator}()`)
      const read = part.operator === '<' && output !== undefined ? { content: output } : {}
      return { text: part.text, dynamic: true, quoted: false, produced, ...read }
    }
    case 'ArithmeticExpansion':
      walkSubstitutions(part, place)
      return { ...emptyPiece, text: part.text, dynamic: true }
    case 'ExtendedGlob':
    case 'Glob':
      walkSubstitutions(part, place)
      return { ...emptyPiece, text: part.text }
    default:
      return { ...emptyPiece, text: part.text }
  }
}

function variable(name: string, source: string, place: Place, quotes: boolean): Piece {
  const evaluate = (value: Parameters<typeof assignedWords>[0]) => assignedWords(value, place)
  const known = place.scope.lookup(name, evaluate)
  if (known === undefined) {
    if (name === 'IFS') return { ...emptyPiece, text: ' ', split: !quotes }
    const vanishing = name === '@' || name === '*'
    return { ...emptyPiece, text: source, dynamic: true, vanishing }
  }
  if (name === '@' || name === '*') return { ...emptyPiece, fields: known }
  return { ...(known[0] ?? emptyPiece), quoted: false, split: !quotes }
}

function parameter(part: ParameterExpansionPart, place: Place, quotes: boolean): Piece {
  const { parameter: name, index, operation } = part
  if (part.prefix !== undefined) {
    walkSubstitutions(part, place)
    return { ...emptyPiece, text: part.text, dynamic: true }
  }
  if (index !== undefined) {
    const evaluate = (value: Parameters<typeof assignedWords>[0]) => assignedWords(value, place)
    const known = operation === undefined ? place.scope.lookup(name, evaluate) : undefined
    walkSubstitutions(part, place)
    if (known === undefined) return { ...emptyPiece, text: part.text, dynamic: true }
    if (index.text === '@' || index.text === '*') return { ...emptyPiece, fields: known }
    const element = known[Number(index.text)]
    return { ...(element ?? emptyPiece), quoted: false, split: !quotes }
  }
  const value = variable(name, part.text, place, quotes)
  if (operation === undefined) return value
  const known = value.dynamic ? undefined : value.text
  switch (operation.type) {
    case 'Default': {
      const operand = operandWord(operation.operand, place)
      // `${x:?text}` is never the text.
      if (operation.operator.includes('?')) return value
      const alternative = operation.operator.includes('+')
      // Which of both applies is unknown; only the operand can be read.
      if (known === undefined) return { ...operand, dynamic: true, quoted: quotes, split: !quotes }
      if (alternative) return { ...operand, quoted: quotes, split: !quotes }
      return value
    }
    case 'CaseModification': {
      if (known === undefined || operation.operand !== undefined) break
      const upper = operation.operator.startsWith('^')
      const change = (text: string) => (upper ? text.toUpperCase() : text.toLowerCase())
      const text =
        operation.operator.length === 2 ? change(known) : change(known.slice(0, 1)) + known.slice(1)
      return { ...value, text }
    }
    case 'Slice': {
      const from = Number(operation.offset.value)
      const length = operation.length === undefined ? undefined : Number(operation.length.value)
      if (known === undefined || !(from >= 0) || (length !== undefined && !(length >= 0))) break
      return { ...value, text: known.slice(from, length === undefined ? undefined : from + length) }
    }
    case 'Replace': {
      const pattern = operation.pattern.value
      if (known === undefined || /[*?[\]$`]/.test(pattern) || pattern === '') break
      const replacement = operandWord(operation.replacement, place)
      if (replacement.dynamic) break
      const to = () => replacement.text
      if (operation.operator === '//') return { ...value, text: known.replaceAll(pattern, to) }
      if (operation.operator === '/') return { ...value, text: known.replace(pattern, to) }
      break
    }
    case 'Transform':
      // `${x@P}` is expanded as a prompt is.
      if (known !== undefined && operation.operand.value === 'P')
        place.session.interpreter.runAll(expanded(known), '@P', place)
      break
    case 'Remove': {
      const pattern = operation.operand.value
      if (known === undefined || /[*?[\]$`]/.test(pattern)) break
      if (operation.operator.startsWith('#'))
        return { ...value, text: known.startsWith(pattern) ? known.slice(pattern.length) : known }
      const cut = known.endsWith(pattern) ? known.length - pattern.length : known.length
      return { ...value, text: known.slice(0, cut) }
    }
  }
  walkSubstitutions(part, place)
  return { ...emptyPiece, text: part.text, dynamic: true }
}
