import type { Word } from './command.ts'
import { literal } from './command-state.ts'
import type { ProgramToken } from './program-tokens.ts'

const unknown: Word = { ...literal('$argument'), dynamic: true }
/** Settings that hold the command or its arguments: `{ cmd: ['git'] }`, `args=['git']`. */
const argumentKeys = /^(?:args|argv|cmd)$/
const opening = '([{'
const closing = ')]}'

/**
 * The command of a call that gets a list (`run(['git', '-C', path], cwd='/srv')`) or arguments
 * (`spawn('git', ['-C', path])`), without settings. A value that is not a string is an unknown
 * word.
 */
export function argvOf(
  tokens: readonly ProgramToken[],
  constants: ReadonlyMap<string, readonly string[]>,
): readonly Word[] {
  const argv: Word[] = []
  let strings: string[] = []
  let names: string[] = []
  let key: string | undefined
  let inList = false
  // Brackets of a call or a subscript inside an element.
  let inside = 0

  function endElement(): void {
    const [name] = names
    const known = names.length === 1 && name !== undefined ? constants.get(name) : undefined
    if (key === undefined) {
      if (strings.length > 0) argv.push(...strings.map(literal))
      else if (known !== undefined) argv.push(...known.map(literal))
      else if (names.length > 0 && argv.length > 0) argv.push(unknown)
    }
    strings = []
    names = []
    key = undefined
  }

  for (const [at, token] of tokens.entries()) {
    const { kind, text } = token
    if (inside > 0) {
      if (kind === 'mark' && opening.includes(text)) inside++
      else if (kind === 'mark' && closing.includes(text)) inside--
    } else if (kind === 'string') strings.push(text)
    else if (kind === 'name') names.push(text)
    else if (kind !== 'mark') continue
    else if (opening.includes(text)) {
      const before = tokens[at - 1]
      // `c(…)` is R's list.
      if (before?.kind === 'name' && before.text !== 'c') inside = 1
      else if (text === '[' && key !== undefined && !argumentKeys.test(key)) inside = 1
      else {
        strings = []
        names = []
        key = undefined
        inList ||= text !== '{'
      }
    } else if (closing.includes(text)) {
      endElement()
      if (inList && text !== '}' && tokens[at + 1]?.text !== '+') return argv
    } else if (text === ',') endElement()
    else if (!inList && (text === '=' || text === ':' || text === '=>')) {
      key = names[0] ?? strings[0] ?? ''
      names = []
      strings = []
    }
  }
  endElement()
  return argv
}
