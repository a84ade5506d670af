import type { SimpleCommand } from './command.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import { literal } from './command-state.ts'
import { wordList } from './word-lists.ts'
import { spend } from './work.ts'

/** Makefile variables whose value is the start of a command. */
const makePrograms =
  /^(?:SHELL|CC|CXX|CPP|LD|AR|AS|FC|RM|CP|MV|INSTALL|PYTHON|NODE|GO|CARGO|NPM|MAKE|\w*_?(?:CMD|COMMAND))[:+?]?=/

/** `make SHELL='…'`, `make --eval='all:; …'`, and makefiles in the line. */
export function makeRuns(command: SimpleCommand): readonly Nested[] {
  const read = readOptions(command.words, {
    short: 'CfIjlOoWE',
    values: wordList(
      'directory file makefile include-dir jobs load-average old-file what-if eval assume-new',
    ),
  })
  const nested: Nested[] = []
  for (const word of read.operands)
    if (makePrograms.test(word.text))
      nested.push({ text: { ...word, text: word.text.replace(/^[^=]*=/, '') }, lenient: true })
  for (const { name, value } of read.options) {
    if (value === undefined) continue
    if (/^(?:--eval|-E)$/.test(name)) nested.push(...recipes(value.text))
    else if (/^(?:-f|--file|--makefile)$/.test(name)) {
      const text = value.text === '-' ? knownInput(command.stdin) : value.content
      if (text !== undefined) nested.push(...recipes(text))
    }
  }
  return nested
}

/** The commands in the text of a makefile. */
export function recipes(text: string): readonly Nested[] {
  spend(text.length >> 1)
  const nested: Nested[] = []
  const add = (line: string) =>
    nested.push({ text: literal(asShell(line.replace(/^[\s@+-]+/, ''))), lenient: true })
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line.startsWith('\t')) add(line)
    else if (isRule(line)) add(line.slice(line.indexOf(';') + 1))
    else if (/^[\w.]+\s*!=/.test(line)) add(line.replace(/^[^=]*=/, ''))
    for (const [, run = ''] of line.matchAll(/\$[({]shell\s+([^)}]{0,400})[)}]/g)) add(run)
  }
  return nested
}

/** `name: prerequisites; recipe`. */
function isRule(line: string): boolean {
  const colon = line.indexOf(':')
  const recipe = line.indexOf(';')
  return colon > 0 && recipe > colon && !line.slice(0, recipe).includes('=')
}

/** What make passes to the shell: its variables are unknown, except the one that removes. */
function asShell(recipe: string): string {
  return recipe.replace(/\$\$|\$[({](\w*)[^(){}]*[)}]/g, (all, name: string | undefined) => {
    if (all === '$$') return '$'
    return name === 'RM' ? 'rm -f' : 'value'
  })
}

/** The jobs of a crontab in a file or in standard input. */
export function cronJobs(command: SimpleCommand): readonly Nested[] {
  const read = readOptions(command.words, { short: 'u' })
  if (read.has('-l', '-r', '-e')) return []
  const [file] = read.operands
  const text =
    file === undefined || file.text === '-' || file.text === '/dev/stdin'
      ? knownInput(command.stdin)
      : file.content
  spend((text ?? '').length >> 1)
  return (text ?? '').split('\n').flatMap((line) => {
    const run = /^\s*(?:@\w+|(?:[\d*/,A-Za-z-]+\s+){4}[\d*/,A-Za-z-]+)\s+(.+)$/.exec(line)?.[1]
    return run === undefined ? [] : [{ text: literal(run), lenient: true, ownStdin: true }]
  })
}

/** The scripts of a package.json. */
export function packageScripts(text: string): readonly Nested[] {
  spend(text.length >> 2)
  const start = text.indexOf('{', text.indexOf('"scripts"') + 1)
  const end = text.indexOf('}', start)
  if (!text.includes('"scripts"') || start === -1 || end === -1) return []
  const scripts = text.slice(start, end)
  return [...scripts.matchAll(/:\s*"((?:[^"\\]|\\.)*)"/g)].map(([, script = '']) => ({
    text: literal(script.replace(/\\(.)/g, '$1')),
    lenient: true,
  }))
}
