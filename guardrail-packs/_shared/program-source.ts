import type { ProgramCall, Word } from './command.ts'
import { literal } from './command-state.ts'
import { argvOf } from './program-argv.ts'
import { bareCalls, longestCall, readCall } from './program-call.ts'
import { decodings, withCharacters } from './program-decode.ts'
import { type Language, type ProgramToken, tokenise } from './program-tokens.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

/** The effects of an interpreter's program, as far as its source shows them. */
export interface Program {
  readonly calls: readonly ProgramCall[]
  /** Shell text that it passes to a shell. */
  readonly texts: readonly string[]
  /** The same, with standard input from the program. */
  readonly fed: readonly string[]
  /** Commands that it starts without a shell. */
  readonly argvs: readonly (readonly Word[])[]
}

interface Draft {
  readonly calls: ProgramCall[]
  readonly texts: string[]
  readonly fed: string[]
  readonly argvs: (readonly Word[])[]
}

/** Calls that pass their first argument to a shell, or a list to the system, by their last name. */
const starters = wordSet(`
  call call-process callcommand callprocess capture2 capture2e capture3 check_call check_output create_subprocess_exec
  create_subprocess_shell exec execfile execfilesync execl execle execlp execsync execv execvp
  execvpe getoutput getstatusoutput open2 open3 passthru pcntl_exec popen popen2 popen3 posix_spawn
  posix_spawnp proc_open run shell shell_exec run-program run_command run_process
  process processbuilder shell-command shell-command-to-string command cmd launch-program async-shell-command
  spawn spawnl spawnlp spawnsync spawnv spawnvp system system* systemlist system2 syscall sh
`)

/** Calls whose argument is a program. */
const evaluators: ReadonlySet<string> = wordSet(`
  assert class_eval compile create_function eval evaluate eval-string evalstring exec execfile function
  instance_eval load loadstring module_eval runincontext runinnewcontext runinthiscontext
`)

export function readSources(sources: readonly string[], language: Language): Program {
  const program: Draft = { calls: [], texts: [], fed: [], argvs: [] }
  for (const source of sources) readSource(source, language, program, 0)
  return program
}

function readSource(given: string, language: Language, program: Draft, depth: number): void {
  const source = withCharacters(given)
  const tokens = tokenise(source, language)
  const constants = new Map<string, readonly string[]>()
  const aliases = new Map<string, string>()
  /** The values of a loop variable over a list of commands. */
  const loops = new Map<string, readonly (readonly string[])[]>()
  const tables = new Map<string, readonly (readonly string[])[]>()
  /** Functions of the program that start their arguments, after these words. */
  const helpers = new Map<string, readonly Word[]>()
  let defined: Defined | undefined
  /** Whether a value that is not a literal is started or evaluated. */
  const isIndirect =
    tokens.some(({ kind, text }) => kind === 'string' && namesStarter(text)) ||
    (language === 'ruby' && /\b(?:__|public_)?send\b/.test(source))
  let startsUnknown = isIndirect
  let evaluatesUnknown = startsUnknown
  tokens.forEach((token, at) => {
    spend(2)
    if (token.kind === 'shell') program.texts.push(token.text)
    if (language === 'awk' && token.kind === 'string') readAwkPipe(tokens, at, program)
    if (token.kind !== 'name') return
    const next = tokens[at + 1]
    const value = tokens[at + 2]
    if (next?.kind === 'mark' && next.text === '=' && value !== undefined) {
      const strings = value.kind === 'string' ? [value.text] : listOfStrings(tokens, at + 2)
      if (strings !== undefined) constants.set(token.text, strings)
      const items = listOfCommands(tokens, at + 2)
      if (items !== undefined) tables.set(token.text, items)
      // `run = subprocess.run`, and no call of it.
      if (value.kind === 'name' && !/^[([]$/.test(tokens[at + 3]?.text ?? ''))
        aliases.set(token.text, value.text)
    }
    defined = definition(tokens, at) ?? defined
    if (token.text === 'in' || token.text === 'of') {
      const variable = tokens[at - 1]
      const items = next && (tables.get(next.text) ?? listOfCommands(tokens, at + 1))
      if (variable?.kind === 'name' && items !== undefined) loops.set(variable.text, items)
    }
    if (next?.kind === 'name' && tokens[at + 1]?.text === 'as' && value?.kind === 'name')
      aliases.set(value.text, token.text)
    if (value?.kind === 'name' && next?.text === ':' && isPicked(tokens, at))
      aliases.set(value.text, token.text)
    const call = readCall(tokens, at, language)
    if (call === undefined) return
    // Paid for first, because some of the following reads all tokens.
    spend(16 + 4 * call.tokens.length + ((call.end - call.start) >> 3))
    const name = aliases.get(token.text) ?? token.text
    const literals = call.tokens.flatMap((each) => {
      if (each.kind === 'string') return [each.text]
      return (each.kind === 'name' ? constants.get(each.text) : undefined) ?? []
    })
    program.calls.push({
      name,
      arguments: source.slice(call.start, call.end),
      strings: literals,
    })
    const last = name
      .slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf(':')) + 1)
      .toLowerCase()
    const helper = helpers.get(token.text)
    const starts =
      helper !== undefined || (starters.has(last) && !isPattern(token.text, language, source))
    const given = call.tokens[0]
    const evaluates = evaluators.has(last)
    if (given !== undefined && !isWhole(call.tokens)) {
      if (starts) startsUnknown = true
      if (evaluates) evaluatesUnknown = true
    }
    if (starts && call.tokens.some((each) => each.text === defined?.parameter)) {
      const argv = argvOf(call.tokens, constants)
      const open = argv.findIndex((word) => word.dynamic)
      if (open > 0 || given?.text === defined?.parameter)
        helpers.set(defined?.name ?? '', argv.slice(0, Math.max(open, 0)))
    }
    if (starts && given?.kind === 'name') {
      for (const item of loops.get(given.text) ?? []) {
        if (item.length > 1) program.argvs.push(item.map(literal))
        else program.texts.push(...item)
      }
    }
    const [first] = literals
    if (first === undefined) return
    if (/^(?:Kernel\.|IO\.)?open$/.test(name) && bareCalls.has(language))
      readOpen(literals, program)
    if (starts || token.text === 'os.execute' || token.text === 'Deno.Command') {
      const list = call.tokens[0]?.kind === 'mark' && call.tokens[0].text === '['
      const argv = [...(helper ?? []), ...argvOf(call.tokens, constants)]
      if (list ? argv.length > 0 : argv.length > 1) program.argvs.push(asArgv(last, argv))
      if (!list && !helper?.length) program.texts.push(first)
    }
    if (evaluates && depth < 4) readSource(first, language, program, depth + 1)
  })
  if (isIndirect)
    for (const { text } of tokens.filter(({ kind }) => kind === 'string').slice(0, 16))
      program.texts.push(text)
  if (looseLanguages.has(language) && anyStarter.test(source)) readLoosely(tokens, program)
  if ((!startsUnknown && !evaluatesUnknown) || depth >= 4) return
  for (const text of decodings(source, tokens)) {
    if (startsUnknown) program.texts.push(text)
    if (evaluatesUnknown) readSource(text, language, program, depth + 1)
  }
}

/** A call's whole argument is one literal. */
function isWhole(tokens: readonly ProgramToken[]): boolean {
  return tokens[0]?.kind === 'string' && (tokens.length === 1 || tokens[1]?.text === ',')
}

/** `getattr(os, 'system')`, `require('child_process')['execSync']`. */
function namesStarter(text: string): boolean {
  return /^(?:system|popen|exec(?:sync|file|filesync)?|spawn(?:sync)?|eval)$/i.test(text)
}

/** Languages of which only the strings are reliable. */
const looseLanguages: ReadonlySet<Language> = new Set(['lisp', 'other'])
const anyStarter =
  /system|exec|\bcmd\b|command|shell|process|\brun|spawn|popen|launch|callproc|\.!|\bos\b/i

/** Each string may be what is started, or its first word. */
function readLoosely(tokens: readonly ProgramToken[], program: Draft): void {
  const strings = tokens.flatMap(({ kind, text }) => (kind === 'string' ? [text] : [])).slice(0, 16)
  for (const [at, text] of strings.entries()) {
    program.texts.push(text)
    if (at + 1 < strings.length && !/\s/.test(text))
      program.argvs.push(strings.slice(at).map(literal))
  }
}

/** `"cmd" | getline`, `print | "cmd"`. */
function readAwkPipe(tokens: readonly ProgramToken[], at: number, program: Draft): void {
  const isPipe = (i: number) => tokens[i]?.text === '|' && tokens[i]?.kind === 'mark'
  const command = tokens[at]?.text ?? ''
  if (isPipe(at + 1) && !isPipe(at + 2)) program.texts.push(command)
  else if (isPipe(at - 1) && !isPipe(at - 2)) program.fed.push(command)
}

/** `open(F, "cmd |")`, `open(my $f, "|-", "cmd")` of Perl, `open("| cmd")` of Ruby. */
function readOpen([mode = '', ...others]: readonly string[], program: Draft): void {
  const written = mode.trim()
  const feeds = written.startsWith('|')
  if (!feeds && !written.endsWith('|')) return
  const own = written.replace(/^\||\|$/g, '').trim()
  const command = own === '-' ? others : [own]
  if (command.length > 1) program.argvs.push(command.map(literal))
  else (feeds ? program.fed : program.texts).push(...command)
}

/** `{ execSync: run } = require(…)`: a renamed member, whereas `{ a: b }` is an object. */
function isPicked(tokens: readonly ProgramToken[], at: number): boolean {
  for (let end = at + 1; end < tokens.length && end < at + longestCall; end++) {
    const token = tokens[end]
    spend(1)
    if (token?.kind === 'mark' && /^[{}]$/.test(token.text))
      return token.text === '}' && tokens[end + 1]?.text === '='
  }
  return false
}

/** `/x/.exec(text)`: patterns have an `exec` too. */
function isPattern(name: string, language: Language, source: string): boolean {
  if (!name.endsWith('.exec')) return false
  spend(source.length >> 3)
  if (language === 'javascript') return !/child_process|shell|ssh/.test(source)
  return name.startsWith('.') && !source.includes('child_process')
}

interface Defined {
  readonly name: string
  readonly parameter: string
}

/** `def sh(line`, `function sh(line`, `sh = async (line) =>`: a function and its first parameter. */
function definition(tokens: readonly ProgramToken[], at: number): Defined | undefined {
  const isWord = tokens[at]?.text === 'def' || tokens[at]?.text === 'function'
  if (!isWord && tokens[at + 1]?.text !== '=') return undefined
  const name = tokens[isWord ? at + 1 : at]
  let first = tokens[at + 2]?.text === 'async' ? at + 3 : at + 2
  while (/^[(*.]$/.test(tokens[first]?.text ?? '')) first++
  const parameter = tokens[first]
  if (name?.kind !== 'name' || parameter?.kind !== 'name') return undefined
  if (!isWord && !tokens.slice(first + 1, first + 12).some(({ text }) => text === '=>'))
    return undefined
  // `...rest`
  return { name: name.text, parameter: parameter.text.replace(/^\./, '') }
}

/** A list whose items are command lines, or lists of strings. */
function listOfCommands(
  tokens: readonly ProgramToken[],
  at: number,
): readonly (readonly string[])[] | undefined {
  if (tokens[at]?.kind !== 'mark' || !/^[[(]$/.test(tokens[at]?.text ?? '')) return undefined
  const items: (readonly string[])[] = []
  for (let i = at + 1; i < tokens.length && i < at + longestCall; i++) {
    const token = tokens[i]
    spend(2)
    if (token?.kind === 'string') items.push([token.text])
    else if (token?.kind === 'mark' && /^[\])]$/.test(token.text)) return items
    else if (token?.text === '[') {
      const strings = listOfStrings(tokens, i)
      if (strings === undefined) return undefined
      items.push(strings)
      while (tokens[i]?.text !== ']') i++
    } else if (token?.kind === 'name') return undefined
  }
  return undefined
}

/** The strings of `['git', 'status']` or `("git", "status")`, a list of nothing else. */
function listOfStrings(tokens: readonly ProgramToken[], at: number): readonly string[] | undefined {
  if (tokens[at]?.kind !== 'mark' || !/^[[(]$/.test(tokens[at]?.text ?? '')) return undefined
  const strings: string[] = []
  for (let i = at + 1; i < tokens.length && i < at + longestCall; i++) {
    const token = tokens[i]
    spend(2)
    if (token?.kind === 'string') strings.push(token.text)
    else if (token?.kind === 'mark' && /^[\])]$/.test(token.text)) return strings
    else if (token?.kind === 'name') return undefined
  }
  return undefined
}

/** `spawn('rm', ['-rf'])` and `execl('/bin/rm', 'rm', '-rf')`: the second repeats the name. */
function asArgv(name: string, argv: readonly Word[]): readonly Word[] {
  const again = /^(execl|execv|spawnl|spawnv|posix_spawn)/.test(name) && argv[1]?.dynamic === false
  return again ? argv.slice(1) : argv
}
