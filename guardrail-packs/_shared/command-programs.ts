import type { Stdin, Word } from './command.ts'
import { type OptionTable, readOptions } from './command-options.ts'
import { type Program, readSources } from './program-source.ts'
import type { Language } from './program-tokens.ts'
import { wordList } from './word-lists.ts'

interface Interpreter {
  readonly language: Language
  readonly options: OptionTable
  /** Options whose value is a program. */
  readonly program: readonly string[]
  /** The first operand is the program, unless it comes from a file. */
  readonly operand?: boolean
  /** Options without a value: then the first operand is the program. */
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
/** An interpreter that gets a program by these options. */
function byOption(language: Language, program: string, short = '', values = ''): Interpreter {
  const options = wordList(program)
  const letters = options.flatMap((name) => (/^-\w$/.test(name) ? [name.slice(1)] : []))
  const words = options.flatMap((name) => (name.startsWith('--') ? [name.slice(2)] : []))
  const single = options.flatMap((name) => (/^-\w\w/.test(name) ? [name.slice(1)] : []))
  return {
    language,
    options:
      single.length > 0
        ? { singleDash: true, values: [...single, ...letters, ...words, ...wordList(values)] }
        : { short: short + letters.join(''), values: [...words, ...wordList(values)] },
    program: single.length > 0 ? options.map((name) => name.replace(/^--/, '-')) : options,
  }
}

function named(names: string, interpreter: Interpreter): readonly [string, Interpreter][] {
  return wordList(names).map((name) => [name, interpreter])
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
  ...named('ipython bpython ptpython micropython circuitpython sage jython xonsh', python),
  ...named('coffee qjs mongosh mongo jsc rhino zx', byOption('javascript', '-e -p --eval --print')),
  ...named('calibre-debug', byOption('python', '-c --command')),
  ...named('blender', byOption('python', '--python-expr')),
  ...named('slsh', byOption('other', '-e')),
  ...named('jruby irb pry truffleruby', byOption('ruby', '-e --execute', 'rI')),
  ...named('julia', byOption('other', '-e -E --eval --print', 'tpLJC', 'project')),
  ...named('erl escript', byOption('other', '-eval -run -s', '', 'sname name setcookie pa')),
  ...named('elixir', byOption('other', '-e --eval --rpc-eval', 'rSp')),
  ...named(
    'groovy scala kotlin kotlinc crystal nim swift gjs',
    byOption('other', '-e --eval eval', 'cp'),
  ),
  ...named('ghc ghci runghc runhaskell', byOption('other', '-e')),
  ...named('jshell bsh amm ocaml utop go rust-script', byOption('other', '-e -c --code')),
  ...named('octave octave-cli matlab scilab', byOption('other', '-batch -r --eval -eval')),
  ...named('swipl gprolog', byOption('other', '-g -t')),
  ...named('raku perl6', byOption('perl', '-e')),
  ...named('r', byOption('r', '-e')),
  ...named('emacs emacsclient', byOption('lisp', '-eval --eval -execute --execute')),
  ...named('guile', byOption('lisp', '-c')),
  ...named('racket', byOption('lisp', '-e --eval')),
  ...named(
    'sbcl ccl ecl clisp clojure clj bb janet fennel hy',
    byOption('lisp', '-e -x --eval -eval'),
  ),
])

/** The program that an interpreter gets on its command line or standard input. */
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
  for (const { value } of read.options) {
    // `node --import data:text/javascript,…`
    const source = /^data:(?:text|application)\/javascript,(.*)$/s.exec(value?.text ?? '')?.[1]
    if (source !== undefined) sources.push(source)
  }
  const [operand, ...behind] = read.operands
  for (const each of [operand, read.value('-f', '--file')])
    if (each?.content !== undefined) sources.push(each.content)
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
