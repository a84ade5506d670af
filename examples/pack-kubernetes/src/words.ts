/**
 * A small reader of command lines, not a shell. It does not guess what a shell would expand, run or
 * look up, but returns `unreadable`, which callers deny.
 */
export type Reading =
  | { readonly kind: 'commands'; readonly commands: readonly (readonly string[])[] }
  | { readonly kind: 'unreadable' }

/** Longer texts are unreadable. */
const LONGEST = 20_000

/** Characters that only a shell can resolve: expansions, subshells, groups, here-documents. */
const BEYOND = new Set(['$', '`', '(', ')', '{', '}', '\0'])
const SEPARATORS = new Set([';', '&', '|', '\n'])

/** The simple commands of a text, each as its words without quotes. */
export function readCommands(text: string): Reading {
  if (text.length > LONGEST) return unreadable
  const commands: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const endWord = () => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = () => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }

  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1)
      const inside = text.slice(at + 1, end)
      if (end === -1 || (char === '"' && /[$`\\]/.test(inside))) return unreadable
      word = (word ?? '') + inside
      at = end
    } else if (char === '\\') {
      const next = text[++at]
      if (next === undefined) return unreadable
      if (next !== '\n') word = (word ?? '') + next
    } else if (char === '#' && word === undefined) {
      const end = text.indexOf('\n', at)
      at = (end === -1 ? text.length : end) - 1
    } else if (char === '<' && text[at + 1] === '<') return unreadable
    else if (BEYOND.has(char)) return unreadable
    else if (SEPARATORS.has(char)) endCommand()
    else if (char === ' ' || char === '\t' || char === '\r') endWord()
    else word = (word ?? '') + char
  }
  endCommand()
  return { kind: 'commands', commands }
}

const unreadable: Reading = { kind: 'unreadable' }

export interface Arguments {
  readonly positional: readonly string[]
  /** The last value of each option; `true` for an option without a value. */
  readonly options: ReadonlyMap<string, string | true>
}

/**
 * Arguments as these programs read them: `--name value`, `--name=value`, `-n value`, `-nvalue`;
 * `--` ends the options. `valued` lists the options that take a value.
 */
export function readArguments(words: readonly string[], valued: ReadonlySet<string>): Arguments {
  const positional: string[] = []
  const options = new Map<string, string | true>()
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    const [, short = '', joined = ''] = /^(-[a-z])=?(.+)$/is.exec(word) ?? []
    const equals = word.indexOf('=')
    if (word === '--') {
      positional.push(...words.slice(at + 1))
      break
    }
    if (!word.startsWith('-') || word === '-') positional.push(word)
    else if (valued.has(word)) options.set(word, words[++at] ?? '')
    else if (valued.has(short)) options.set(short, joined)
    else if (equals > 0) options.set(word.slice(0, equals), word.slice(equals + 1))
    else options.set(word, true)
  }
  return { positional, options }
}
