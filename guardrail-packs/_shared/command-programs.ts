import type { Stdin, Word } from './command.ts'
import { type OptionTable, readOptions } from './command-options.ts'
import { type Program, readSources } from './program-source.ts'
import type { Language } from './program-tokens.ts'

interface Interpreter {
  readonly language: Language
  readonly options: OptionTable
  /** Options whose value is a program. */
  readonly program: readonly string[]
  /** The first operand is the program, unless it comes from a file. */
  readonly operand?: boolean
  /** Options that do without a value: the first operand is the program then. */
  readonly prints?: readonly string[]
}

const python: Interpreter = {
  language: 'python',
  options: { short: 'cmWX', leading: true },
  program: ['-c'],
}
const javascript: Interpreter = {
  language: 'javascript',
  options: { short: 'erC', values: ['eval', 'require', 'import'], leading: true },
  program: ['-e', '--eval', '--print'],
  prints: ['-p', '--print'],
}
const awk: Interpreter = {
  language: 'awk',
  options: { short: 'Fvf', values: ['field-separator', 'assign', 'file'], leading: true },
  program: ['-e', '--source'],
  operand: true,
}
const interpreters: ReadonlyMap<string, Interpreter> = new Map<string, Interpreter>([
  ['python', python],
  ['pypy', python],
  ['ipython', python],
  ['node', javascript],
  ['nodejs', javascript],
  ['bun', javascript],
  ['deno', { ...javascript, program: [...javascript.program, 'eval'] }],
  ['tsx', javascript],
  ['ts-node', javascript],
  [
    'perl',
    {
      language: 'perl',
      options: { short: 'eEIMm', attached: 'iF', leading: true },
      program: ['-e', '-E'],
    },
  ],
  [
    'ruby',
    {
      language: 'ruby',
      options: { short: 'erICE', attached: 'iF', leading: true },
      program: ['-e'],
    },
  ],
  [
    'php',
    {
      language: 'php',
      options: {
        short: 'rBREdfcz',
        values: ['run', 'process-begin', 'process-code', 'process-end'],
        leading: true,
      },
      program: [
        ...['-r', '-B', '-R', '-E'],
        ...['--run', '--process-begin', '--process-code', '--process-end'],
      ],
    },
  ],
  ['lua', { language: 'lua', options: { short: 'el', leading: true }, program: ['-e'] }],
  ['luajit', { language: 'lua', options: { short: 'el', leading: true }, program: ['-e'] }],
  [
    'osascript',
    { language: 'applescript', options: { short: 'els', leading: true }, program: ['-e'] },
  ],
  ['rscript', { language: 'r', options: { short: 'e', leading: true }, program: ['-e'] }],
  ['awk', awk],
  ['gawk', awk],
  ['mawk', awk],
  ['nawk', awk],
])

/** The program that an interpreter is handed with its command line or its standard input. */
export function readProgram(
  executable: string,
  words: readonly Word[],
  stdin: Stdin,
): Program | undefined {
  const interpreter = interpreters.get(executable) ?? versioned(executable)
  if (interpreter === undefined) return undefined
  const sources: string[] = []
  const read = readOptions(words, interpreter.options)
  for (const option of read.options)
    if (option.value !== undefined && interpreter.program.includes(option.name))
      sources.push(option.value.text)
  const [operand, ...behind] = read.operands
  if (interpreter.operand && operand !== undefined && !read.has('-f', '--file', '--source', '-e'))
    sources.push(operand.text)
  if (operand !== undefined && interpreter.prints && read.has(...interpreter.prints))
    sources.push(operand.text)
  if (operand !== undefined && interpreter.program.includes(operand.text)) {
    const { operands } = readOptions(behind, interpreter.options)
    if (operands[0] !== undefined) sources.push(operands[0].text)
  }
  const fromStdin = operand === undefined || operand.text === '-' || operand.text === '/dev/stdin'
  if (sources.length === 0 && fromStdin && !read.has('-m')) {
    const text = stdin.kind === 'text' || stdin.kind === 'pipe' ? stdin.text : undefined
    if (text !== undefined) sources.push(text)
  }
  if (sources.length === 0) return undefined
  return readSources(sources, interpreter.language)
}

/** `python3.11`, `ruby2.7`, `perl5.36`. */
function versioned(executable: string): Interpreter | undefined {
  const last = executable.charCodeAt(executable.length - 1)
  return last >= 48 && last <= 57
    ? interpreters.get(executable.replace(/(?<![\d.])[\d.]+$/, ''))
    : undefined
}
