import type { OptionTable } from './command-options.ts'
import type { Wrapper } from './wrapper.ts'

type Draft = { -readonly [Key in keyof Wrapper]: Wrapper[Key] } & {
  subcommands?: Record<string, Wrapper>
}

/**
 * Wrappers as lines: names with commas between them, their subcommands, and how the words are read.
 *
 * - `-ab` short options with a value; `--name` a long one
 * - `=-c` an option whose value is shell text; `>-e` one behind which the command follows
 * - `%--command` an option whose value is the program that the operands are for
 * - `?-p` an option with which nothing is run
 * - `+2` operands before the command
 * - `:joins` and the like: a member of `Wrapper` that is true
 */
export function wrapperLines(lines: string): Record<string, Wrapper> {
  const all: Record<string, Wrapper> = {}
  for (const line of lines.trim().split('\n')) {
    const tokens = line.trim().split(/\s+/)
    const names = tokens.filter((token) => /^\w/.test(token))
    add(all, names, wrapperOf(tokens.slice(names.length)))
  }
  return all
}

function add(
  all: Record<string, Wrapper>,
  [names = '', ...subcommands]: readonly string[],
  wrapper: Wrapper,
): void {
  for (const name of names.split(',')) {
    if (subcommands.length === 0) {
      all[name] = { ...wrapper, ...all[name] }
      continue
    }
    const nested = { ...all[name]?.subcommands }
    add(nested, subcommands, wrapper)
    all[name] = { ...all[name], subcommands: nested }
  }
}

function wrapperOf(tokens: readonly string[]): Wrapper {
  let short = ''
  const values: string[] = []
  const text: string[] = []
  const rest: string[] = []
  const inert: string[] = []
  const wrapper: Draft = {}
  let singleDash = false

  function takesValue(option: string): void {
    if (option.startsWith('--')) values.push(option.slice(2))
    else if (singleDash) values.push(option.slice(1))
    else short += option.slice(1)
  }

  for (const token of tokens) {
    const option = token.slice(1)
    switch (token[0]) {
      case '-':
        takesValue(token)
        break
      case '=':
        takesValue(option)
        text.push(option)
        break
      case '%':
        takesValue(option)
        wrapper.program = option
        break
      case '>':
        rest.push(option)
        break
      case '?':
        inert.push(option)
        break
      case '+':
        wrapper.operands = Number(option)
        break
      default:
        if (option === 'singleDash') singleDash = true
        else if (option === 'always') wrapper.joins = 'always'
        else Object.assign(wrapper, { [option]: true })
        if (option === 'noCommand') wrapper.scattered = true
    }
  }
  if (short !== '' || values.length > 0) {
    const options: OptionTable = { short, values, singleDash }
    wrapper.options = options
  }
  if (text.length > 0) {
    wrapper.text = text
    wrapper.lenient = true
  }
  if (rest.length > 0) wrapper.rest = rest
  if (inert.length > 0) wrapper.inert = inert
  return wrapper
}

/** Several tables as one: the subcommands of a name are put together. */
export function mergeWrappers(
  ...tables: readonly Readonly<Record<string, Wrapper>>[]
): Record<string, Wrapper> {
  const merged: Record<string, Wrapper> = {}
  for (const table of tables)
    for (const [name, wrapper] of Object.entries(table)) {
      const before = merged[name]
      merged[name] =
        before?.subcommands && wrapper.subcommands
          ? {
              ...before,
              ...wrapper,
              subcommands: mergeWrappers(before.subcommands, wrapper.subcommands),
            }
          : { ...before, ...wrapper }
    }
  return merged
}
