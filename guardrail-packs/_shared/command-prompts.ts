import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { knownInput } from './command-output.ts'
import { literal } from './command-state.ts'
import { wordList } from './word-lists.ts'
import { spend } from './work.ts'

/** A program with an interactive prompt, in which a line can start a shell command. */
interface Prompt {
  /** Options whose value is such a line. */
  readonly options: readonly string[]
  /** Words that begin with `+` are lines. */
  readonly plus?: boolean
}

const editor: Prompt = { options: ['-c', '--cmd'], plus: true }
const pager: Prompt = { options: [], plus: true }
const debuggerOptions = wordList(
  '-ex -iex -eval-command --eval-command --init-eval-command -o -O --one-line --one-line-before-file',
)
const lineOptions: Prompt = {
  options: ['-e', '-c', '--expression', '--command', '-command', '--cmd'],
}

export const prompts: ReadonlyMap<string, Prompt> = new Map([
  ...wordList('vim vi nvim gvim ex view vimdiff rvim evim kak hx').map(row(editor)),
  ...wordList('less more most pg zless zmore bzless xzless').map(row(pager)),
  ...wordList('gdb cgdb lldb gdb-multiarch').map(row({ options: debuggerOptions })),
  ...wordList(
    `ed red dc bc gnuplot ftp lftp telnet mail mailx mutt ranger vifm lf tig ipython ipython3 gp maxima octave`,
  ).map(row(lineOptions)),
])

function row(prompt: Prompt): (name: string) => [string, Prompt] {
  return (name) => [name, prompt]
}

/** What such a program passes to a shell or another interpreter at the start. */
export function atPrompt(command: SimpleCommand, prompt: Prompt): readonly Nested[] {
  const lines = command.words.flatMap((word, at) => linesOf(word, command.words[at - 1], prompt))
  const input = knownInput(command.stdin)
  if (input !== undefined) lines.push(...input.split('\n').map(literal))
  for (const { text } of lines) spend(4 + (text.length >> 1))
  return lines.flatMap(runByLine)
}

function linesOf(word: Word, before: Word | undefined, { options, plus }: Prompt): Word[] {
  if (options.includes(before?.text ?? '')) return [word]
  if (word.content !== undefined) return word.content.split('\n').map(literal)
  if (plus && word.text.startsWith('+')) return [{ ...word, text: word.text.slice(1) }]
  const option = options.find((each) =>
    word.text.startsWith(each.startsWith('--') ? `${each}=` : each),
  )
  if (option === undefined) return []
  return [{ ...word, text: word.text.slice(option.length + (option.startsWith('--') ? 1 : 0)) }]
}

/** `!make`, `:silent !make`, `:r !date`, `shell make`, `platform shell make`. */
const shellLine =
  /^[:%.,$\d\s]*(?:sil(?:ent)?!?\s+)?(?:(?:r(?:ead)?|w(?:rite)?|term(?:inal)?|exe(?:cute)?)\s*["']?)?(?:!+|(?:platform\s+)?shell\s|system\s|pipe\s[^|]*\|)\s*(.+)$/s
const shellCall = /\bsystem(?:list)?\s*\(\s*(["'])(.*?)\1/gs
const codeLine = /^[:\s]*(python3?|py3?|script|lua|ruby|perl)\s+(.+)$/s

function runByLine(line: Word): readonly Nested[] {
  const text = shellLine.exec(line.text)?.[1]
  if (text !== undefined) return [{ text: { ...line, text: unquoted(text) }, lenient: true }]
  const code = codeLine.exec(line.text)
  const [, language = '', source = ''] = code ?? []
  if (code !== null) return [{ argv: asProgram(language, source).map(literal) }]
  return [...line.text.matchAll(shellCall)].map(([, , run = '']) => ({
    text: { ...line, text: run },
    lenient: true,
  }))
}

function unquoted(text: string): string {
  return /^"(.*)"$/s.exec(text)?.[1] ?? text
}

function asProgram(language: string, source: string): readonly string[] {
  return /^(?:py|script)/.test(language) ? ['python3', '-c', source] : [language, '-e', source]
}
