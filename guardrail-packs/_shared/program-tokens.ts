import { spend } from './work.ts'

export type Language =
  | 'python'
  | 'javascript'
  | 'perl'
  | 'ruby'
  | 'php'
  | 'lua'
  | 'applescript'
  | 'r'
  | 'awk'
  | 'lisp'
  | 'other'

/** `shell` is text between backticks or in `qx{}`; `end` closes a statement. */
export interface ProgramToken {
  readonly kind: 'name' | 'string' | 'shell' | 'mark' | 'end'
  readonly text: string
  readonly start: number
  readonly end: number
}

const hashComments: ReadonlySet<Language> = new Set(['python', 'perl', 'ruby', 'php', 'r', 'awk'])
const slashComments: ReadonlySet<Language> = new Set(['javascript', 'php'])
const closers: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']', '<': '>' }

const namePattern = /(?:[.]?[A-Za-z_$@][\w$]*)(?:(?:\.|::|->)[A-Za-z_$][\w$]*[!?]?)*/y
const lispName = /[A-Za-z_$@.][\w$*+!?<>=/:.-]*/y
const applescriptShell = /do\s+shell\s+script/iy
const quoteOperator = /(qx|%x|qq|qw|q|%q|%Q|%w)\s*([{([<|!/])/y

/**
 * The names, strings and marks of a short program, without comments. For each language it knows
 * only where strings and comments end.
 */
export function tokenise(source: string, language: Language): readonly ProgramToken[] {
  const tokens: ProgramToken[] = []
  let at = 0

  function push(kind: ProgramToken['kind'], text: string, end: number): void {
    tokens.push({ kind, text, start: at, end })
    at = end
  }

  spend(source.length >> 3)
  while (at < source.length) {
    spend(3)
    const c = source[at] ?? ''
    if (language === 'lisp' && c === ';') at = lineEnd(source, at)
    else if (c === '\n' || c === ';') push('end', c, at + 1)
    else if (c === ' ' || c === '\t' || c === '\r') at++
    else if (c === '#' && hashComments.has(language)) at = lineEnd(source, at)
    else if (slashComments.has(language) && source.startsWith('//', at)) at = lineEnd(source, at)
    else if (slashComments.has(language) && source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2)
      at = end === -1 ? source.length : end + 2
    } else if ((language === 'lua' || language === 'applescript') && source.startsWith('--', at)) {
      at = lineEnd(source, at)
    } else if (c === '"' || (c === "'" && language !== 'lisp') || c === '`') {
      const { text, end } = quoted(source, at, language)
      push(
        c === '`' && language !== 'javascript'
          ? 'shell'
          : c === '`' && shellTag(tokens)
            ? 'shell'
            : 'string',
        text,
        end,
      )
    } else if ((language === 'perl' || language === 'ruby') && operatorQuote(source, at, tokens)) {
      quoteOperator.lastIndex = at
      const [whole = '', operator = '', open = ''] = quoteOperator.exec(source) ?? []
      const close = closers[open] ?? open
      const end = source.indexOf(close, at + whole.length)
      const stop = end === -1 ? source.length : end
      const text = source.slice(at + whole.length, stop)
      if (operator === 'qw' || operator === '%w') {
        for (const word of text.split(/\s+/).filter((each) => each !== ''))
          tokens.push({ kind: 'string', text: word, start: at, end: stop })
        at = stop + 1
      } else push(/x/.test(operator) ? 'shell' : 'string', text, stop + 1)
    } else if (/[A-Za-z_$@.]/.test(c)) {
      if (language === 'applescript') {
        applescriptShell.lastIndex = at
        const found = applescriptShell.exec(source)
        if (found !== null) {
          push('name', 'system', at + found[0].length)
          continue
        }
      }
      const pattern = language === 'lisp' ? lispName : namePattern
      pattern.lastIndex = at
      const name = pattern.exec(source)?.[0]
      if (name === undefined) push('mark', c, at + 1)
      else if (prefixed(name, source[at + name.length], language)) at += name.length
      else push('name', name.replaceAll('->', '.').replaceAll('::', '.'), at + name.length)
    } else if (c === '=' && /[=~>]/.test(source[at + 1] ?? ''))
      push('mark', source.slice(at, at + 2), at + 2)
    else push('mark', c, at + 1)
  }
  return joinStrings(tokens, language)
}

/** `'a' + 'b'`, `"a" . "b"` in Perl and PHP, `'a' 'b'` in Python and awk: one string. */
function joinStrings(tokens: readonly ProgramToken[], language: Language): readonly ProgramToken[] {
  const plus = language === 'perl' || language === 'php' ? '.' : '+'
  const besides = language === 'python' || language === 'awk'
  const joined: ProgramToken[] = []
  for (const token of tokens) {
    const before = joined.at(-1)
    if (token.kind === 'string' && before !== undefined) {
      const by = before.kind === 'mark' && before.text === plus ? joined.at(-2) : before
      if (by?.kind === 'string' && (by !== before || besides)) {
        if (by !== before) joined.pop()
        joined[joined.length - 1] = { ...by, text: by.text + token.text, end: token.end }
        continue
      }
    }
    joined.push(token)
  }
  return joined
}

/** Python's `f'…'`, `rb"…"`. */
function prefixed(name: string, next: string | undefined, language: Language): boolean {
  return language === 'python' && (next === '"' || next === "'") && /^[rbuf]{1,2}$/i.test(name)
}

/** `$`…`` of Bun and zx. */
function shellTag(tokens: readonly ProgramToken[]): boolean {
  const last = tokens.at(-1)
  return last?.kind === 'name' && /(^|\.)\$$/.test(last.text)
}

function operatorQuote(source: string, at: number, tokens: readonly ProgramToken[]): boolean {
  quoteOperator.lastIndex = at
  const found = quoteOperator.exec(source)
  if (found === null) return false
  // A hash key or a division is not a quote.
  return tokens.at(-1)?.text !== '{' && !/[\w$@]/.test(source[at - 1] ?? ' ')
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from)
  return end === -1 ? source.length : end
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }

function quoted(source: string, open: number, language: Language): { text: string; end: number } {
  const quote = source[open] ?? ''
  const triple = quote.repeat(3)
  const fence = language === 'python' && source.startsWith(triple, open) ? triple : quote
  let text = ''
  let at = open + fence.length
  while (at < source.length && !source.startsWith(fence, at)) {
    const c = source[at] ?? ''
    if (c !== '\\') {
      text += c
      at++
      continue
    }
    const next = source[at + 1] ?? ''
    const code = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(source.slice(at + 1, at + 6))
    if (code !== null) {
      text += String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? '', 16))
      at += 1 + code[0].length
    } else {
      text += escapes[next] ?? next
      at += 2
    }
  }
  return { text, end: Math.min(source.length, at + fence.length) }
}
