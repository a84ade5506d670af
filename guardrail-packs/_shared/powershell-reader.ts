import type { Word } from './command.ts'
import { literal, noCommands } from './command-state.ts'
import { OverCap, spend } from './work.ts'

/** One command of a PowerShell text. */
export interface Statement {
  readonly words: readonly Word[]
  /** Files that its output is redirected to, and overwrites. */
  readonly targets: readonly Word[]
  /** Whether it gets piped input, or runs once per item. */
  readonly fed: boolean
  /** A value such as a string or variable: not run, because it has no call operator. */
  readonly isValue: boolean
}

/** Maximum nesting of blocks and parentheses. */
const DEEPEST = 16

/**
 * The commands of a PowerShell text, those in its blocks and parentheses included. It knows of the
 * language where words, strings, blocks and pipelines end, and which constants a variable holds.
 */
export function readPowerShell(text: string): readonly Statement[] {
  const statements: Statement[] = []
  read(text, false, { statements, constants: new Map() }, 0)
  return statements
}

interface Draft {
  readonly statements: Statement[]
  /** Values of variables that are set to one string, by lower-case name. */
  readonly constants: Map<string, string>
}

const ends = /[\s;|&(){},]/
const closers: Readonly<Record<string, string>> = { '(': ')', '{': '}' }

function read(text: string, fedBefore: boolean, draft: Draft, depth: number): void {
  if (depth > DEEPEST) throw new OverCap('too_deep')
  spend(16 + 2 * text.length)
  let words: Word[] = []
  let targets: Word[] = []
  let fed = fedBefore
  let redirects: 'over' | 'append' | undefined
  let called = false
  let isValue = false
  let at = 0

  function endCommand(pipes: boolean): void {
    if (words.length > 0 || targets.length > 0) {
      keepConstant(words, draft)
      draft.statements.push({ words, targets, fed, isValue })
    }
    words = []
    targets = []
    called = false
    isValue = false
    redirects = undefined
    fed = pipes || fedBefore
  }

  function add(word: Word): void {
    if (redirects === undefined) words.push(word)
    else if (redirects === 'over') targets.push(word)
    redirects = undefined
  }

  while (at < text.length) {
    const c = text.charAt(at)
    if (words.length === 0 && !called && redirects === undefined) isValue = /["'$@({[\d]/.test(c)
    if (c === '\n' || c === ';') {
      endCommand(false)
      at++
    } else if (c === '|') {
      const isOr = text.charAt(at + 1) === '|'
      endCommand(!isOr)
      at += isOr ? 2 : 1
    } else if (c === '&') {
      // The call operator runs the next word; between commands it ends one.
      if (words.length > 0) endCommand(false)
      called = true
      at++
    } else if (c === '#' && (at === 0 || /[\s;|&({]/.test(text.charAt(at - 1)))) {
      at = endOf(text, '\n', at)
    } else if (text.startsWith('<#', at)) at = endOf(text, '#>', at) + 2
    else if (c === '`' && /[\r\n]/.test(text.charAt(at + 1))) at += 2
    else if (/[\s,)}]/.test(c)) at++
    else if (/^(?:[0-9*]?>>?)/.test(text.slice(at, at + 3))) {
      const [operator = '>'] = /^[0-9*]?>>?/.exec(text.slice(at, at + 3)) ?? []
      at += operator.length
      // `2>&1` joins streams.
      if (text.charAt(at) === '&') at += 2
      else redirects = operator.endsWith('>>') ? 'append' : 'over'
    } else if (c === '{' || c === '(' || /^[$@][({]/.test(text.slice(at, at + 2))) {
      const open = c === '{' || c === '(' ? at : at + 1
      const isName = c === '$' && text.charAt(open) === '{'
      const end = closing(text, open)
      const inside = text.slice(open + 1, end)
      if (!isName) read(inside, fed && text.charAt(open) === '{', draft, depth + 1)
      add({
        ...unknown,
        text: text.slice(at, end + 1),
        dynamic: text.charAt(open) !== '{' || isName,
      })
      at = end + 1
    } else {
      const word = readWord(text, at, draft, depth)
      // `$x = …` sets a variable; a command or value follows.
      add(word.word)
      at = word.end
      if (word.word.text === '=' && words.length === 2) {
        const [name] = words
        words = []
        const value = readWord(text, skipSpace(text, at), draft, depth)
        if (name?.text.startsWith('$') && isQuote(text.charAt(skipSpace(text, at))))
          draft.constants.set(name.text.slice(1).toLowerCase(), value.word.text)
      }
    }
  }
  endCommand(false)
}

/** `$x='rm'`, written without spaces. */
function keepConstant(words: readonly Word[], { constants }: Draft): void {
  const { 1: name, 2: value } = /^\$(\w+)=(.+)$/s.exec(words[0]?.text ?? '') ?? []
  if (name !== undefined && value !== undefined && words.length === 1)
    constants.set(name.toLowerCase(), value)
}

const unknown: Word = { text: '', dynamic: true, quoted: false, produced: noCommands }

/** A word of several parts: bare text, strings and variables. */
function readWord(
  text: string,
  from: number,
  draft: Draft,
  depth: number,
): { readonly word: Word; readonly end: number } {
  let value = ''
  let dynamic = false
  let at = from
  while (at < text.length) {
    const c = text.charAt(at)
    if (
      c === '@' &&
      isQuote(text.charAt(at + 1)) &&
      /^@['"][ \t]*\r?\n/.test(text.slice(at, at + 80))
    ) {
      const end = endOf(text, `\n${text.charAt(at + 1)}@`, at)
      value += text.slice(text.indexOf('\n', at) + 1, end)
      at = end + 3
    } else if (isQuote(c)) {
      const read = readString(text, at, draft, depth)
      value += read.text
      dynamic ||= read.dynamic
      at = read.end
    } else if (c === '`') {
      value += text.charAt(at + 1)
      at += 2
    } else if (c === '$' && /\w/.test(text.charAt(at + 1))) {
      const [, name = ''] = /^\$((?:\w+:)?\w+)/.exec(text.slice(at, at + 200)) ?? []
      const known = draft.constants.get(name.toLowerCase())
      value += known ?? `$${name}`
      // `$_` and similar are part of the language.
      dynamic ||= known === undefined && !/^(?:_|true|false|null|home|profile|env:\w+)$/i.test(name)
      at += name.length + 1
    } else if (ends.test(c)) break
    else {
      value += c
      at++
    }
  }
  // A character that cannot begin a word must not stop the reader.
  if (at === from) return { word: literal(text.charAt(at)), end: at + 1 }
  return { word: { ...literal(value), dynamic }, end: at }
}

function isQuote(c: string): boolean {
  return c === '"' || c === "'"
}

function readString(
  text: string,
  open: number,
  draft: Draft,
  depth: number,
): { readonly text: string; readonly dynamic: boolean; readonly end: number } {
  const quote = text.charAt(open)
  let value = ''
  let dynamic = false
  let at = open + 1
  while (at < text.length) {
    const c = text.charAt(at)
    if (c === quote) {
      if (text.charAt(at + 1) !== quote) break
      value += quote
      at += 2
    } else if (quote === '"' && c === '`') {
      value += escapes[text.charAt(at + 1)] ?? text.charAt(at + 1)
      at += 2
    } else if (quote === '"' && text.startsWith('$(', at)) {
      const end = closing(text, at + 1)
      read(text.slice(at + 2, end), false, draft, depth + 1)
      value += text.slice(at, end + 1)
      dynamic = true
      at = end + 1
    } else if (quote === '"' && c === '$' && /\w/.test(text.charAt(at + 1))) {
      const [, name = ''] = /^\$(\w+)/.exec(text.slice(at, at + 200)) ?? []
      const known = draft.constants.get(name.toLowerCase())
      value += known ?? `$${name}`
      dynamic ||= known === undefined
      at += name.length + 1
    } else {
      value += c
      at++
    }
  }
  return { text: value, dynamic, end: at + 1 }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '' }

/** The bracket that closes the one at `open`, ignoring strings; the end if it is missing. */
function closing(text: string, open: number): number {
  const opener = text.charAt(open)
  const closer = closers[opener] ?? ''
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const c = text.charAt(at)
    if (c === '`') at++
    else if (isQuote(c)) {
      const end = text.indexOf(c, at + 1)
      if (end === -1) return text.length
      at = end
    } else if (c === opener) depth++
    else if (c === closer && --depth === 0) return at
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/[ \t]/.test(text.charAt(at))) at++
  return at
}

function endOf(text: string, sign: string, from: number): number {
  const end = text.indexOf(sign, from + 1)
  return end === -1 ? text.length : end
}
