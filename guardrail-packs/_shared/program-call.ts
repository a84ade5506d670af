import type { Language, ProgramToken } from './program-tokens.ts'

/** A call, and the position of its arguments in the source. */
interface Call {
  readonly tokens: readonly ProgramToken[]
  readonly start: number
  readonly end: number
}

/** Maximum number of tokens to read for one call. */
export const longestCall = 200

/** The call at a name: with parentheses, or without if the language allows it. */
export function readCall(
  tokens: readonly ProgramToken[],
  at: number,
  language: Language,
): Call | undefined {
  const next = tokens[at + 1]
  if (language === 'lisp') return readForm(tokens, at)
  if (next === undefined || next.kind === 'end' || next.text === '}')
    return bareCalls.has(language) ? { tokens: [], start: 0, end: 0 } : undefined
  if (next.kind === 'mark' && next.text === '(') {
    let depth = 0
    const last = Math.min(tokens.length, at + longestCall)
    for (let end = at + 1; end < last; end++) {
      const token = tokens[end]
      if (token?.kind !== 'mark') continue
      if (token.text === '(') depth++
      else if (token.text === ')' && --depth === 0)
        return { tokens: tokens.slice(at + 2, end), start: next.end, end: token.start }
    }
    const end = tokens[last - 1]?.end ?? next.end
    return { tokens: tokens.slice(at + 2, last), start: next.end, end }
  }
  if (!commandCalls.has(language)) return undefined
  if (next.kind === 'mark' && !/^\d$/.test(next.text)) return undefined
  let end = at + 1
  while (end < tokens.length && end < at + longestCall && tokens[end]?.kind !== 'end') end++
  return {
    tokens: tokens.slice(at + 1, end),
    start: next.start,
    end: tokens[end - 1]?.end ?? next.end,
  }
}

/** `(name argument argument)`. */
function readForm(tokens: readonly ProgramToken[], at: number): Call | undefined {
  if (tokens[at - 1]?.text !== '(') return undefined
  let depth = 1
  let end = at + 1
  for (; end < tokens.length && end < at + longestCall; end++) {
    const { kind, text } = tokens[end] as ProgramToken
    if (kind !== 'mark') continue
    if (text === '(') depth++
    else if (text === ')' && --depth === 0) break
  }
  const given = tokens.slice(at + 1, end)
  return { tokens: given, start: given[0]?.start ?? 0, end: given.at(-1)?.end ?? 0 }
}

/** A name alone is a call: `loop { fork }`. */
export const bareCalls: ReadonlySet<Language> = new Set(['perl', 'ruby'])

const commandCalls: ReadonlySet<Language> = new Set([
  'perl',
  'ruby',
  'php',
  'applescript',
  'lua',
  'awk',
  'other',
])
