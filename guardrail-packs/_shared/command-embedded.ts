import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import { literal } from './command-state.ts'
import { wordList } from './word-lists.ts'

/** `concurrently 'npm run a' 'npm run b'`: every operand is a command line. */
export function concurrently(words: readonly Word[]): readonly Nested[] {
  const { operands } = readOptions(words, {
    short: 'mncptlP',
    values:
      wordList(`max-processes names name-separator prefix prefix-colors prefix-length timestamp-format
      success restart-tries restart-after handle-input default-input-target hide kill-signal cwd`),
  })
  return operands.map((text) => ({ text, lenient: true, ownStdin: true }))
}

/** `vim -c ':!make' '+silent !make'`: what an editor hands to a shell before anybody types. */
export function editor(words: readonly Word[]): readonly Nested[] {
  return words.flatMap((word, at) => {
    const given = /^(-c|--cmd)$/.test(words[at - 1]?.text ?? '')
    const text = given ? word.text : /^(?:\+|-c(?=.)|--cmd=)(.*)$/s.exec(word.text)?.[1]
    const run = /^[:\s]*(?:sil(?:ent)?!?\s+)?!(.+)$/s.exec(text ?? '')?.[1]
    return run === undefined ? [] : [{ text: { ...word, text: run }, lenient: true }]
  })
}

/** The `spawn`, `exec` and `system` of a script for expect, given as `-c` or as its input. */
export function expectScript(command: SimpleCommand): readonly Nested[] {
  const read = readOptions(command.words, { short: 'cf', leading: true })
  const script = read.value('-c')
  const unnamed = read.operands.length === 0 || read.operands[0]?.text === '-'
  const text = script?.text ?? (unnamed ? knownInput(command.stdin) : undefined)
  const word = script ?? literal('')
  return (text ?? '').split(/[;\n]/).flatMap((statement) => {
    const run = /^\s*(?:spawn|exec|system)\s+(?:-\w+\s+)*(.+)$/s.exec(statement)?.[1]
    return run === undefined
      ? []
      : [{ text: { ...word, text: run }, lenient: true, ownStdin: true }]
  })
}
