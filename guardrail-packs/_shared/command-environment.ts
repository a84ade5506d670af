import type { Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { literal } from './command-state.ts'
import { wordSet } from './word-lists.ts'

/** Variables whose value a program runs as a command. */
const programs = wordSet(`
  BROWSER FCEDIT FZF_DEFAULT_COMMAND GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH HGEDITOR LESSCLOSE LESSOPEN
  LESSEDIT PROMPT_COMMAND RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER SHELL SSH_ASKPASS SSH_SK_HELPER TERMINAL
  CC CXX HOSTCC npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL npm_config_editor npm_config_shell MAILCHECK
  CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
`)
const programEnding = /(?:^|_|MAN)(?:EDITOR|PAGER|VISUAL|ASKPASS|RSH|COMMAND|CMD|HELPER)$/
/** Variables that a shell expands when it prompts, traces or waits. */
const promptNames = /^(?:R?PS[0-4]|R?PROMPT|PROMPT[234]|MAIL(?:PATH)?)$/
/** Variables with a file of commands. */
const startFiles = /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5DB_FILE)$/
/** Variables with options of a program. */
const optionNames: Readonly<Record<string, string>> = {
  MAKEFLAGS: 'make',
  GNUMAKEFLAGS: 'make',
  TAR_OPTIONS: 'tar',
  LESS: 'less',
  NODE_OPTIONS: 'node',
  PERL5OPT: 'perl',
  RUBYOPT: 'ruby',
  FZF_DEFAULT_OPTS: 'fzf',
}

/** What is run because a variable has this value. */
export function runByVariable(name: string, value: Word): readonly Nested[] {
  const { text } = value
  if (text === '') return none
  if (name.startsWith('BASH_FUNC_'))
    return [{ text: { ...value, text: `f ${text}` }, lenient: true }]
  if (startFiles.test(name))
    return value.content === undefined ? none : [{ text: literal(value.content), lenient: true }]
  if (name === 'PERL5DB') return [{ argv: ['perl', '-e', text].map(literal) }]
  if (promptNames.test(name)) return expanded(text)
  const program = optionNames[name]
  if (program !== undefined) return [{ text: literal(`${program} ${text}`), lenient: true }]
  if (!programs.has(name) && !programEnding.test(name)) return none
  const nested: Nested[] = [
    { text: { ...value, text: text.replace(/^\s*\|-?\s*/, '') }, lenient: true },
  ]
  return nested
}

const none: readonly Nested[] = []

/** The commands in `$(…)` and backticks of a text that is expanded later. */
export function expanded(text: string): readonly Nested[] {
  if (!/\$\(|`/.test(text)) return none
  return [{ text: literal(`: "${text.replaceAll('"', '\\"')}"`), lenient: true }]
}

/** Builtins that take an array element by name, and evaluate the text in brackets. */
export const subscripted = wordSet(
  'declare export getopts let local mapfile printf read readarray readonly test typeset unset wait [',
)

/** `unset 'a[$(date)]'`: the commands in the brackets are run. */
export function runBySubscript(words: readonly Word[]): readonly Nested[] {
  if (!words.some(({ text }) => text.includes('['))) return none
  return words.flatMap(({ text, dynamic }) => (dynamic ? none : inSubscript(text)))
}

export function inSubscript(text: string): readonly Nested[] {
  const inner = /^\s*\w+\[(.*)\]/s.exec(text)?.[1]
  return inner === undefined ? none : expanded(inner)
}
