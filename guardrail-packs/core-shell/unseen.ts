import type { CommandReading, ProgramCall, SimpleCommand, Word } from '../_shared/command.ts'
import { isGlob } from '../_shared/command-glob.ts'
import {
  isShell,
  mayBeAssignment,
  onlyChecks,
  shellInput,
  shells,
  standardInput,
} from '../_shared/command-nested.ts'
import { readOptions } from '../_shared/command-options.ts'
import { passesFunctions } from '../_shared/command-state.ts'
import { lastStep } from '../_shared/paths.ts'
import { fetchers, type RuleId, settingPrinters, settingWords } from './rules.ts'

/** Whether a command runs an unseen script or executable. */
export function runsUnseen(command: SimpleCommand): RuleId | undefined {
  const { name, executable } = command
  if (name === undefined) return undefined
  if (executable === '') {
    if (name.produced.length > 0) return executesOutput(command)
    if (mayBeAssignment(command)) return undefined
    if (isGlob(name)) return 'dynamic-executable'
    return name.dynamic && !namesOwnFile(name.text) ? 'dynamic-executable' : undefined
  }
  if (name.fetched && /\.(?:sh|bash|py|pl|rb|run)$/.test(name.text)) return 'dynamic-script'
  // The place that xargs or parallel fills.
  if (command.openEnded && /^(\{.*\}|%+|@+)$/.test(executable)) return 'dynamic-executable'
  if (isShell(command)) return shellRunsUnseen(command) ? 'dynamic-script' : undefined
  if (/^(?:pwsh|powershell)$/.test(executable))
    return command.words.some(makesScript) ? 'dynamic-script' : undefined
  if (executable === 'iex' || executable === 'invoke-expression')
    return invokesUnseen(command) ? 'dynamic-script' : undefined
  if (executable === 'source' || executable === '.') {
    const [file] = command.words
    if (file !== undefined && standardInput.has(file.text))
      return readsUnseen(command) ? 'dynamic-script' : undefined
    const unseen =
      file !== undefined &&
      (file.fetched === true || (isOutput(file) && !printsSettings(file.produced)))
    return unseen ? 'dynamic-script' : undefined
  }
  if (interpreters.test(executable)) {
    const piped = readsProgramFromStdin(command) && fetched(command)
    const file = command.words.find((word) => !word.text.startsWith('-'))
    const runs = file?.fetched === true || evaluatesFetched(command.calls)
    if (piped || runs || takesFetchedProgram(command)) return 'dynamic-script'
  }
  return undefined
}

/** `& ([scriptblock]::Create((irm …)))`. */
function makesScript({ text }: Word): boolean {
  return (
    /\[scriptblock\]::create\(/i.test(text) &&
    /\b(?:irm|iwr|curl|wget|invoke-restmethod|invoke-webrequest)\b|download(?:string|data)\(/i.test(
      text,
    )
  )
}

/** PowerShell's eval: `irm … | iex`, `iex ((New-Object …).DownloadString(…))`. */
function invokesUnseen({ stdin, words, nesting }: SimpleCommand): boolean {
  const [text] = words
  if (words.some((word) => fetchers.has(word.text.toLowerCase()))) return true
  // Alone it is Elixir's prompt, unless its parentheses were not read.
  if (text === undefined)
    return stdin.kind === 'pipe'
      ? stdin.text === undefined
      : nesting.some((by) => by === 'powershell' || by === 'pwsh')
  return text.dynamic || text.text.startsWith('(')
}

/** Whether the standard input is unseen output of another command. */
function readsUnseen({ stdin }: SimpleCommand): boolean {
  if (stdin.kind === 'pipe') return stdin.text === undefined
  return stdin.kind === 'file' && stdin.source.produced.length > 0
}

/** `./scripts/deploy-$env.sh`: any file of the project. */
function namesOwnFile(text: string): boolean {
  const step = lastStep(text)
  return step > 0 && /\w/.test(text.slice(step).replace(/\$(\w+|\{[^}]*\})/g, ''))
}

/** `python3 -c "$(curl …)"`, `python3 <(curl …)`. */
function takesFetchedProgram(command: SimpleCommand): boolean {
  return command.words.some((word, at) => {
    if (!word.produced.some((each) => fetchers.has(each.executable))) return false
    const before = command.words[at - 1]?.text ?? ''
    return (
      /^(-[a-zA-Z]*[ceErp]|--eval|--print)$/.test(before) ||
      (at === 0 && word.text.startsWith('<('))
    )
  })
}

const evaluating =
  /^(?:(?:builtins|vm|kernel|object|binding|global(?:this)?|window)\.)?(?:eval|exec|execfile|function|loadstring|load|dofile|evaluate|create_function|assert|instance_eval|class_eval|module_eval|runin\w*context|source|include|require)$/i
const starting =
  /(?:^|\.)(?:system|popen\w*|exec(?:sync|file)?|run|call|check_\w+|getoutput|spawn\w*|shell_exec|passthru)$/i
const fetchCall =
  /(?:^|\.)(?:urlopen|urlretrieve|urllib\w*\.\w+|requests?\.(?:get|post|request)|httpx\.\w+|fetch|axios(?:\.\w+)?|got|file_get_contents|curl_exec|uri\.open|open-uri|net\.http\.get\w*|lwp\w*\.\w+|getstore|http\.request|downloadstring|url|open_uri|download\.file|readlines?)$/i
const fetchText =
  /urlopen|urllib|requests?\.(?:get|post)|httpx\.|fetch\s*\(|axios|file_get_contents\s*\(\s*['"]\w+:\/\/|curl_exec|URI\.open|URI\.parse|Net::HTTP|LWP|\bget\s*\(?\s*["']https?:|https?\.get|http\.request|downloadString|new URL|url\s*\(|https?:\/\//i

function fetches({ name, strings }: ProgramCall): boolean {
  return fetchCall.test(name) || strings.some((text) => /^https?:\/\//.test(text))
}

/** `exec(urlopen(url).read())`: a program that runs downloaded code. */
function evaluatesFetched(calls: readonly ProgramCall[]): boolean {
  let fetchesAny: boolean | undefined
  return calls.some(({ name, arguments: given, strings }) => {
    if (/(?:^|\.)(?:then|map|forEach)$/.test(name) && /^\s*(?:eval|Function)\s*$/.test(given))
      return true
    const evaluates = evaluating.test(name)
    if (!evaluates && !starting.test(name)) return false
    // The whole argument is a literal.
    if (strings.length > 0 && /^\s*[bru]*(['"`])(?:\\.|(?!\1).)*\1\s*(?:,|$)/s.test(given))
      return /^(?:source|include|require)$/i.test(name) && /^https?:/.test(strings[0] ?? '')
    if (/^(?:source|include|require)$/i.test(name)) return false
    if (fetchText.test(given)) return evaluates || !/^\s*\[/.test(given)
    if (!evaluates || given === '') return false
    fetchesAny ??= calls.some(fetches)
    return fetchesAny
  })
}

export const interpreters =
  /^(python|pypy|node|nodejs|perl|ruby|php|lua|luajit|bun|deno|osascript|rscript|r|julia|groovy|tclsh|elixir|raku|tsx|ipython)[\d.]*$/

/** Whether unseen output is run as a command. */
function executesOutput(command: SimpleCommand): RuleId | undefined {
  const produced = command.name?.produced ?? []
  if (produced.some((each) => fetchers.has(each.executable))) return 'dynamic-script'
  const by = command.nesting.at(-1) ?? ''
  const asScript = by === 'eval' || shells.has(by)
  if (printsSettings(produced)) return undefined
  if (asScript ? produced.every(locates) : produced.some(locates)) return undefined
  return asScript ? 'dynamic-script' : 'dynamic-executable'
}

/** `$(command -v python3 || command -v python)`, `$(pyenv which python)`: the path of a program. */
function locates({ executable, words }: SimpleCommand): boolean {
  return (
    /^(which|command|type|where)$/.test(executable) || words.some(({ text }) => text === 'which')
  )
}

const shellOptions = { short: 'oO', values: ['rcfile', 'init-file'], leading: true }

/** `<(curl …)`, `"$(curl …)"`: unseen output of a program. */
function isOutput({ produced, content, text }: Word): boolean {
  return (
    produced.length > 0 &&
    content === undefined &&
    /^[<$`]/.test(text) &&
    !namesFile(produced, text)
  )
}

function shellRunsUnseen(command: SimpleCommand): boolean {
  const options = readOptions(command.words, shellOptions)
  if (onlyChecks(command)) return false
  const startFile = options.value('--rcfile', '--init-file')
  if (startFile !== undefined && isOutput(startFile)) return true
  const input = shellInput(command)
  switch (input.kind) {
    case 'missing':
      return command.openEnded === 'appended'
    case 'stdin':
      if (options.has('--version', '--help')) return false
      return (
        readsUnseen(command) ||
        (command.stdin.kind === 'inherited' && command.openEnded === 'appended')
      )
    case 'file':
      return isOutput(input.file) || input.file.fetched === true
    case 'text':
      return false
  }
}

/** `bash "$(which tool)"` runs a file, `bash <(tool)` runs output. */
function namesFile(produced: readonly SimpleCommand[], text: string): boolean {
  return !text.startsWith('<') && !produced.some((each) => fetchers.has(each.executable))
}

function readsProgramFromStdin(command: SimpleCommand): boolean {
  const { operands, options, dashesAfter } = readOptions(command.words, { leading: true })
  // `php -- args` and `deno run -` read the program from standard input.
  const args = command.executable === 'php' && dashesAfter === 0
  const runs = /^(deno|bun)$/.test(command.executable) && operands[0]?.text === 'run'
  const first = runs ? operands.slice(1).find(isOperand) : args ? undefined : operands[0]
  const own = options.some((option) => /^(-[cermpE]|--eval|--print)$/.test(option.name))
  return !own && (first === undefined || first.text === '-' || first.text === '/dev/stdin')
}

function isOperand({ text }: Word): boolean {
  return text === '-' || !text.startsWith('-')
}

function fetched(command: SimpleCommand): boolean {
  const { stdin } = command
  const sources =
    stdin.kind === 'pipe'
      ? stdin.producers
      : stdin.kind === 'file'
        ? stdin.source.produced
        : stdin.kind === 'text'
          ? stdin.produced
          : []
  return sources.some((each) => fetchers.has(each.executable))
}

/** `eval "$(ssh-agent)"`, `source <(kubectl completion bash)`: settings, not scripts. */
function printsSettings(produced: readonly SimpleCommand[]): boolean {
  return (
    produced.length > 0 &&
    !produced.some((each) => fetchers.has(each.executable)) &&
    produced.some(
      (each) =>
        settingPrinters.has(each.executable) ||
        each.words.some(
          ({ text }) =>
            settingWords.has(text.replace(/^--?/, '').replace(/=.*$/s, '')) ||
            /^--(bash|zsh|fish)$/.test(text),
        ),
    )
  )
}

/**
 * A function that pipes itself to itself, or starts itself twice in the background; loops of fork.
 */
export function isForkBomb(command: SimpleCommand, reading: CommandReading): boolean {
  const name = command.name?.text
  if (name === undefined) return false
  if (command.calls.length > 0 && forksInLoop(command)) return true
  if (passesFunctions(command.nesting)) return false
  // `f(){f|f&};f` is not valid in bash, but zsh runs it.
  if (name.startsWith('{') && command.nesting.includes(`function ${name.slice(1)}`)) return true
  const definition = `function ${name}`
  const piped =
    command.stdin.kind === 'pipe' &&
    command.stdin.producers.some((each) => each.name?.text === name)
  const within = command.nesting.filter((by) => by.startsWith('function '))
  const calls = callsOf(reading)
  if (piped && within.some((by) => by === definition || calls.within.get(by)?.has(definition)))
    return true
  if (!command.nesting.includes(definition)) return false
  const again = calls.again.get(name)
  return again !== undefined && again.count > 1 && again.forks
}

interface Calls {
  /** For a function, by its place `function f`: the places in which it is called. */
  readonly within: ReadonlyMap<string, ReadonlySet<string>>
  /** For a function that calls itself: how often, and whether once in the background. */
  readonly again: ReadonlyMap<string, { readonly count: number; readonly forks: boolean }>
}

/** Collected once for all commands of a reading, which may be thousands. */
const known = new WeakMap<CommandReading, Calls>()

function callsOf(reading: CommandReading): Calls {
  const before = known.get(reading)
  if (before !== undefined) return before
  const within = new Map<string, Set<string>>()
  const again = new Map<string, { count: number; forks: boolean }>()
  for (const { name, nesting } of reading.commands) {
    const definition = `function ${name?.text}`
    const places = within.getOrInsertComputed(definition, () => new Set())
    for (const place of nesting) places.add(place)
    if (name === undefined || !nesting.includes(definition)) continue
    const { count, forks } = again.get(name.text) ?? { count: 0, forks: false }
    again.set(name.text, { count: count + 1, forks: forks || nesting.includes('&') })
  }
  const calls = { within, again }
  known.set(reading, calls)
  return calls
}

function forksInLoop(command: SimpleCommand): boolean {
  if (!command.calls.some((call) => /(^|\.|_)fork$/.test(call.name))) return false
  const stdin = command.stdin.kind === 'text' ? command.stdin.text : ''
  return /\b(while|until|for|loop)\b/.test(
    [...command.words.map((word) => word.text), stdin].join(' '),
  )
}
