import { type Assignment, forEachChild, type SyntaxNode, type Word } from 'unbash'
import { parseShell, payForParts } from './command-scan.ts'
import { spend } from './work.ts'

type Value = Assignment['value']

const values = new WeakMap<Assignment, Value>()

/**
 * The value of an assignment; always use it instead of `value`. The parser computes the value's
 * position as a floating-point number, though it is whole. The engine then uses such numbers for
 * all word positions and compiles the parser for them: each later text takes three times as long,
 * permanently. So the value is parsed as a separate word, whose positions refer to another text.
 */
export function assignedValue(assignment: Assignment): Value {
  const { text, pos, index } = assignment
  const source = text.slice(text.indexOf('=', index === undefined ? 0 : index.end - pos) + 1)
  if (/^[\w./:@%+,=-]*$/.test(source)) return bare(source)
  let value = values.get(assignment)
  if (value === undefined) {
    value = soleWord(source) ?? array(source) ?? broken(source) ?? wholeNumbered(assignment.value)
    values.set(assignment, value)
  }
  return value
}

/** Like the parser's `forEachChild`, but with assignment values from `assignedValue`. */
export function eachChild(node: SyntaxNode, visit: (child: SyntaxNode) => void): void {
  spend(4)
  if (node.type === 'Word') payForParts(node.text)
  if (node.type !== 'Assignment') forEachChild(node, visit)
  else {
    if (node.index !== undefined) visit(node.index)
    visit(assignedValue(node))
  }
}

function bare(source: string): Word {
  return { type: 'Word', pos: 0, end: source.length, text: source, value: source, parts: undefined }
}

/** A text as one word; `undefined` if it is not one word. */
function soleWord(source: string): Word | undefined {
  // After a quote, characters that would begin a comment do not.
  const opening = source.startsWith('#') ? "''" : ''
  const command = parseShell(`: ${opening}${source}`).commands[0]?.command
  const word = command?.type === 'Command' ? command.suffix[0] : undefined
  if (word?.type !== 'Word' || word.text !== opening + source) return undefined
  if (opening === '') return word
  const parts = word.parts?.slice(1)
  return { ...bare(source), value: word.value, parts: mere(parts) ? undefined : parts }
}

/**
 * `(a b)`, on one or several lines: the words of a command without effect, and of those after it.
 */
function array(source: string): Value | undefined {
  const inner = /^(?:\\\n)*\((.*)\)$/s.exec(source)?.[1]
  // A key in brackets is not a pattern, unlike in a command.
  if (inner === undefined || /\[[^[\]]*\s|(?:^|\s)\[/.test(inner)) return undefined
  const script = parseShell(`: ${inner}`)
  const elements: Word[] = []
  for (const { command } of script.commands) {
    if (command.type !== 'Command' || command.redirects.length > 0) return undefined
    for (const item of [...command.prefix, command.name, ...command.suffix]) {
      const word = item?.type === 'Assignment' ? soleWord(item.text) : item
      if (word?.type === 'Word') elements.push(word)
      else if (item !== undefined) return undefined
    }
  }
  return { type: 'ArrayValue', pos: 0, end: source.length, elements: elements.slice(1) }
}

function mere(parts: Word['parts']): boolean {
  return parts?.length === 1 && parts[0]?.type === 'Literal'
}

/** An array that is never closed. */
function broken(source: string): Word | undefined {
  return /^\([\w ]*$/.test(source) ? bare(source) : undefined
}

/** Arrays that cannot be written as a command: rare, so their position is corrected afterwards. */
function wholeNumbered(value: Value): Value {
  ;(value as { pos: number }).pos |= 0
  return value
}
