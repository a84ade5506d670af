import type { JsonObject } from 'model-gateway/plugin'
import type {
  Assignment,
  Command,
  ParsedScript,
  Redirection,
  Statement,
  SyntaxNode,
  Word as WordNode,
} from 'unbash'
import type { CommandReading, SimpleCommand } from './command.ts'
import { assignedValue, eachChild } from './command-assignment.ts'
import { readArgv, readText, type Trace } from './command-reader.ts'
import type { Place } from './command-state.ts'
import { assignedWords, expandText, expandWord } from './command-words.ts'
import { OverCap, workingAlone } from './work.ts'

/**
 * One part of a command for display. `value` is its expanded value, if different; `unknown` if it
 * is only known when it runs.
 */
interface Piece extends JsonObject {
  readonly kind: string
  readonly text: string
  value?: string
  unknown?: true
  children?: Piece[]
}

/** Limits: parts of a tree, and characters of a text. */
const MOST = 400
const LONGEST = 240
/** Levels of syntax, several per nesting level of a reading. */
const DEEPEST = 200

/**
 * How a command is read, as a tree: lists, pipelines, commands with words and redirects,
 * substitutions, and nested commands. Empty if it cannot be read. At most 400 parts; then a last
 * part of the kind `cut`.
 */
export function commandTree(command: string | readonly string[]): readonly Piece[] {
  if (typeof command !== 'string') {
    const { commands, unreadable } = readArgv(command)
    if (unreadable !== undefined) return []
    const tree = createTree(commands)
    return tree.finish(
      commands.length === 0
        ? []
        : [
            tree.piece('command', command.join(' '), () => [
              ...command.map((word) => tree.piece('word', word)),
              ...tree.runs(0, commands.length),
            ]),
          ],
    )
  }
  const trace: Trace = { spans: new Map() }
  const { commands, unreadable } = readText(command, trace)
  const { script, place } = trace
  if (script === undefined || place === undefined) return []
  if (unreadable !== undefined && unreadable !== 'syntax') return []
  const tree = createTree(commands)
  const pieces: (Piece | undefined)[] = []
  try {
    // Words are expanded again, with a separate limit.
    const session = { ...place.session, commands: [], spans: undefined, substitutions: 0 }
    pieces.push(...workingAlone(() => readScript(script, tree, trace, { ...place, session })))
  } catch (error) {
    if (!(error instanceof OverCap)) throw error
    pieces.push({ kind: 'cut', text: error.message })
  }
  if (unreadable === 'syntax') {
    pieces.push({ kind: 'error', text: script.errors?.[0]?.message ?? 'a part does not parse' })
  }
  return tree.finish(pieces)
}

type Expanded = readonly { readonly text: string; readonly dynamic: boolean }[]
type Tree = ReturnType<typeof createTree>

function createTree(commands: CommandReading['commands']) {
  let made = 0
  let left = 0

  /** Its children are created only while the limit allows. */
  function piece(kind: string, text: string, children?: () => readonly (Piece | undefined)[]) {
    if (made >= MOST) {
      left++
      return undefined
    }
    made++
    const one: Piece = { kind, text: cut(text) }
    const inside = children?.().filter((child) => child !== undefined) ?? []
    if (inside.length > 0) one.children = inside
    return one
  }

  /** What the command at `start` runs, one level below another. */
  function runs(start: number, end: number): readonly Piece[] {
    const base = commands[start]?.nesting.length ?? 0
    const top: Piece[] = []
    const above: { readonly depth: number; readonly piece: Piece }[] = []
    for (const command of commands.slice(start + 1, end)) {
      const depth = command.nesting.length
      const one = piece('runs', command.nesting.slice(base).join(' › '))
      if (one === undefined) break
      one.value = cut(lineOf(command))
      if (command.openEnded) one.unknown = true
      while ((above.at(-1)?.depth ?? -1) >= depth) above.pop()
      const parent = above.at(-1)?.piece
      if (parent === undefined) top.push(one)
      else {
        parent.children ??= []
        parent.children.push(one)
      }
      above.push({ depth, piece: one })
    }
    return top
  }

  return {
    piece,
    runs,
    finish(pieces: readonly (Piece | undefined)[]): readonly Piece[] {
      const shown = pieces.filter((one) => one !== undefined)
      return left === 0 ? shown : [...shown, { kind: 'cut', text: `more than ${MOST} parts` }]
    },
  }
}

function lineOf({ name, words, redirects }: SimpleCommand): string {
  const all = [name, ...words].flatMap((word) => (word === undefined ? [] : [word.text]))
  return [...all, ...redirects.map(({ operator, target }) => `${operator} ${target.text}`)].join(
    ' ',
  )
}

function readScript(script: ParsedScript, tree: Tree, trace: Trace, place: Place): Piece[] {
  const { piece } = tree

  const list = (statements: readonly Statement[], depth: number) =>
    statements.map(({ command, background }) =>
      background === true
        ? piece('background', '&', () => [read(command, depth)])
        : read(command, depth),
    )

  function read(node: SyntaxNode, depth: number): Piece | undefined {
    if (depth > DEEPEST) return undefined
    const below = depth + 1
    switch (node.type) {
      case 'Command':
        return commandPiece(node, below)
      case 'Statement':
        return list([node], below)[0]
      case 'Pipeline':
        return node.operators.length === 0
          ? piece('not', '!', () => node.commands.map((stage) => read(stage, below)))
          : piece('pipeline', node.operators.join(' '), () =>
              node.commands.map((stage) => read(stage, below)),
            )
      case 'AndOr':
        return piece('list', node.operators.join(' '), () =>
          node.commands.map((command) => read(command, below)),
        )
      case 'Redirected':
        return piece('redirected', '', () => [
          read(node.command, below),
          ...node.redirects.map((redirect) => redirectPiece(redirect, below)),
        ])
      case 'Subshell':
        return piece('subshell', '( … )', () => list(node.body.commands, below))
      case 'BraceGroup':
        return piece('group', '{ … }', () => list(node.body.commands, below))
      case 'CompoundList':
        return piece('body', '', () => list(node.commands, below))
      case 'Function':
        return piece('function', node.name.value, () => [read(node.body, below)])
      case 'CommandExpansion':
      case 'ArithmeticCommandExpansion':
      case 'ProcessSubstitution':
        return piece('substitution', node.text, () => list(node.script?.commands ?? [], below))
      case 'Word':
        return wordPiece(node, below)
      case 'Assignment':
        return assignmentPiece(node, below)
      case 'Redirect':
      case 'HereString':
      case 'HereDoc':
        return redirectPiece(node, below)
      case 'Time':
      case 'Negation':
        return undefined
      default:
        return piece(kindOf(node), 'operator' in node ? node.operator : '', () =>
          childrenOf(node, below),
        )
    }
  }

  function childrenOf(node: SyntaxNode, depth: number): readonly (Piece | undefined)[] {
    const children: (Piece | undefined)[] = []
    const clause = 'clause' in node ? node.clause : undefined
    eachChild(node, (child) => {
      const one = read(child, depth)
      if (one !== undefined && child === clause) children.push({ ...one, kind: 'condition' })
      else children.push(one)
    })
    return children
  }

  function commandPiece(node: Command, depth: number): Piece | undefined {
    const words = [node.name, ...node.suffix].flatMap((item) =>
      item?.type === 'Word' || item?.type === 'Assignment' ? [item.text] : [],
    )
    return piece('command', words.join(' '), () => {
      const span = trace.spans.get(node)
      return [
        ...node.prefix.map((item) => read(item, depth)),
        ...(node.name === undefined ? [] : [wordPiece(node.name, depth)]),
        ...node.suffix.map((item) => read(item, depth)),
        ...(span === undefined ? [] : tree.runs(span.start, span.end)),
      ]
    })
  }

  /** The scripts in a word, or in syntax with words. */
  function substitutions(node: SyntaxNode, depth: number): readonly (Piece | undefined)[] {
    if (depth > DEEPEST) return []
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') {
      return [read(node, depth)]
    }
    const found: (Piece | undefined)[] = []
    eachChild(node, (child) => void found.push(...substitutions(child, depth + 1)))
    return found
  }

  function valued(one: Piece, written: string, words: Expanded): Piece {
    const value = words.map(({ text }) => text).join(' ')
    if (words.some(({ dynamic }) => dynamic)) one.unknown = true
    // Unknown parts are shown as written.
    if (value !== written && value !== one.text) one.value = cut(value)
    return one
  }

  function wordPiece(node: WordNode, depth: number): Piece | undefined {
    const one = piece('word', node.text, () => substitutions(node, depth))
    return one && valued(one, node.value, expandWord(node, place))
  }

  function assignmentPiece(node: Assignment, depth: number): Piece | undefined {
    const value = assignedValue(node)
    const one = piece('assignment', node.text, () => substitutions(value, depth))
    const plain = value.type === 'Word' ? `${node.name}=${value.value}` : node.text
    if (one === undefined || value.type !== 'Word') return one
    const words = assignedWords(value, place)
    return valued(
      one,
      plain,
      words.map((word) => ({ ...word, text: `${node.name}=${word.text}` })),
    )
  }

  function redirectPiece(node: Redirection, depth: number): Piece | undefined {
    const from = node.descriptor?.type === 'FileDescriptor' ? String(node.descriptor.value) : ''
    if (node.type === 'HereDoc') {
      const { text, parts } = node.body
      const one = piece('heredoc', `${from}${node.operator}${node.delimiter?.text ?? ''}`, () =>
        (parts ?? []).flatMap((part) => substitutions(part, depth)),
      )
      if (one === undefined) return undefined
      const body = expandText(text, node.delimiter?.quoted ? undefined : (parts ?? []), place)
      one.value = cut(body.text)
      if (body.dynamic) one.unknown = true
      return one
    }
    const { target } = node
    const space = node.operator.endsWith('&') ? '' : ' '
    const one = piece('redirect', `${from}${node.operator}${space}${target?.text ?? ''}`, () =>
      target === undefined ? [] : substitutions(target, depth),
    )
    return one && target && valued(one, target.value, expandWord(target, place))
  }

  return list(script.commands, 0).filter((one) => one !== undefined)
}

function kindOf({ type }: SyntaxNode): string {
  return type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`
}
