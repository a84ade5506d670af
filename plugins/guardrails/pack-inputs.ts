import type { GuardedOperation } from 'model-gateway/guardrail'
import type { JsonObject } from 'model-gateway/plugin'
import { commandText, parseArguments } from './content.ts'
import type { GuardInput } from './contract.ts'
import { type Piece, pieceOf, type TerminalMemory, typedBehind } from './terminal-sessions.ts'

/** One thing for packs to judge. */
export interface PackInput {
  readonly texts: readonly string[]
  /** Undefined: the arguments are malformed. */
  readonly input: GuardInput | undefined
  /** Set for a call that continues typing into a terminal. */
  readonly typed?: Typed
}

/** The same call with the earlier text of its terminal, without its own. */
export interface Typed {
  readonly whole: GuardInput
  readonly before: GuardInput
}

/** What packs can judge: commands and tool calls. */
export function* inputsOf(
  operation: GuardedOperation,
  terminals: TerminalMemory | undefined,
): Iterable<PackInput> {
  const { phase, content, server } = operation
  if (content.kind === 'command') {
    const { command } = content
    yield { texts: [commandText(command)], input: { kind: 'command', phase, command } }
  }
  if (content.kind !== 'tool_calls') return
  const typedIn = typedBefore(operation, terminals)
  for (const call of content.calls) {
    const { tool, arguments: text } = call
    const inputOf = (args: JsonObject): GuardInput => {
      return { kind: 'tool_call', phase, server, tool, arguments: args }
    }
    const parsed = parseArguments(text)
    const piece = pieceOf(call)
    const before = piece === undefined ? '' : typedIn(piece)
    yield {
      texts: [text],
      input: parsed && inputOf(parsed),
      ...(piece !== undefined &&
        before !== '' && {
          typed: {
            whole: inputOf(piece.typing(before + piece.text)),
            before: inputOf(piece.typing(before)),
          },
        }),
    }
  }
}

/** Returns the earlier text of the terminal of a piece, and records the piece. */
function typedBefore(
  operation: GuardedOperation,
  terminals: TerminalMemory | undefined,
): (piece: Piece) => string {
  let sessions: Map<string, string> | undefined
  return (piece) => {
    const { session, text } = piece
    if (sessions === undefined) {
      sessions = new Map()
      for (const call of operation.earlier?.() ?? []) {
        const earlier = pieceOf(call)
        if (earlier === undefined) continue
        const known = sessions.get(earlier.session) ?? ''
        sessions.set(earlier.session, typedBehind(known, earlier.text))
      }
    }
    const remembered = terminals?.typed(terminalOf(operation, session)) ?? ''
    const before = sessions.get(session) ?? remembered
    sessions.set(session, typedBehind(before, text))
    return before
  }
}

/** Remembers the text that an allowed operation typed, if the next call does not repeat it. */
export function keepTyped(
  operation: GuardedOperation,
  terminals: TerminalMemory | undefined,
): void {
  const { caller, content } = operation
  if (terminals === undefined || caller === undefined || content.kind !== 'tool_calls') return
  for (const piece of content.calls.map(pieceOf)) {
    if (piece === undefined) continue
    const terminal = terminalOf(operation, piece.session)
    terminals.keep(terminal, typedBehind(terminals.typed(terminal), piece.text))
  }
}

function terminalOf({ caller, server }: GuardedOperation, session: string): string {
  return JSON.stringify([caller ?? '', server?.key ?? '', session])
}
