import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import { literal } from './command-state.ts'
import { wordList } from './word-lists.ts'
import { spend } from './work.ts'

/** `concurrently 'npm run a' 'npm run b'`: each operand is a command line. */
export function concurrently(words: readonly Word[]): readonly Nested[] {
  const { operands } = readOptions(words, {
    short: 'mncptlP',
    values:
      wordList(`max-processes names name-separator prefix prefix-colors prefix-length timestamp-format
      success restart-tries restart-after handle-input default-input-target hide kill-signal cwd`),
  })
  return operands.map((text) => ({ text, lenient: true, ownStdin: true }))
}

/** `spawn`, `exec` and `system` in a Tcl script, given as `-c`, as a file or as its input. */
export function expectScript(command: SimpleCommand): readonly Nested[] {
  const read = readOptions(command.words, { short: 'cf', leading: true })
  const [operand] = read.operands
  const script = read.value('-c')
  const unnamed = operand === undefined || operand.text === '-'
  const text = script?.text ?? operand?.content ?? (unnamed ? knownInput(command.stdin) : undefined)
  const word = script ?? literal('')
  spend((text ?? '').length)
  return (text ?? '').split(/[;\n[\]]/).flatMap((statement): readonly Nested[] => {
    const removed = /^\s*file\s+delete\s+-force\s+(?:--\s+)?(.+)$/s.exec(statement)?.[1]
    if (removed !== undefined) return [{ argv: ['rm', '-rf', removed].map(literal) }]
    const opened = /^\s*open\s+["{]?\|\s*([^"}]+)/.exec(statement)?.[1]
    const run =
      opened ?? /^\s*(?:eval\s+)?(?:spawn|exec|system)\s+(?:-\w+\s+)*(.+)$/s.exec(statement)?.[1]
    return run === undefined
      ? []
      : [{ text: { ...word, text: run }, lenient: true, ownStdin: true }]
  })
}
