import type { ParsedScript, SyntaxNode } from 'unbash'
import type { SimpleCommand, Stdin } from './command.ts'
import { eachChild } from './command-assignment.ts'
import { inherited, inside, limits, noCommands, type Output, type Place } from './command-state.ts'
import { OverCap, spend } from './work.ts'

/** The script of a `$(…)`, backticks or process substitution. */
export function runSubstitution(
  { script, text }: { readonly script: ParsedScript | undefined; readonly text: string },
  place: Place,
  by: string,
): { output: Output; produced: readonly SimpleCommand[] } {
  const { session } = place
  const start = session.commands.length
  if (++session.substitutions > limits.substitutions) throw new OverCap('too_many')
  const stdin: Stdin =
    by === '>()' ? { kind: 'pipe', producers: noCommands, text: undefined } : inherited
  const inner = inside(place, by, { stdin, openEnded: false, captured: true })
  if (script === undefined) return { output: undefined, produced: noCommands }
  const output = session.interpreter.walkScript(script, text, inner)
  spend(32 + session.commands.length - start)
  return { output, produced: session.commands.slice(start) }
}

/** The substitutions in syntax that is not a command's word: a test, a pattern, arithmetic. */
export function walkSubstitutions(node: SyntaxNode, place: Place): void {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
      runSubstitution(node, place, '$()')
      return
    case 'ProcessSubstitution':
      runSubstitution(node, place, `${node.operator}()`)
      return
    default:
      eachChild(node, (child) => walkSubstitutions(child, place))
  }
}
