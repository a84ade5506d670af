import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ToolCall } from './command-pack.ts'
import { unwrapped } from './json-text.ts'
import { notebookCommands } from './notebook.ts'
import { terminalText } from './terminal-text.ts'
import { cloudCommands } from './tool-clouds.ts'
import { type Field, fieldsOf, listOf, textIn, textOf } from './tool-fields.ts'
import { writtenFiles } from './tool-files.ts'
import { gitCommands } from './tool-git.ts'
import { identityWords, onServer, ownName } from './tool-identity.ts'
import * as tables from './tool-tables.ts'

/** A command that a tool call runs. */
export interface ToolCommand {
  readonly command: string | readonly string[]
  /** The tool is a shell: text that does not parse is denied if it mentions a program of a pack. */
  readonly exact: boolean
}

/** A tool, as its name describes it. */
interface Tool {
  readonly words: readonly string[]
  /** Takes commands, in any argument. */
  readonly isShell: boolean
  readonly isTerminal: boolean
  readonly runs: boolean
  readonly isCode: boolean
  /** Only inspects its input. */
  readonly looks: boolean
  readonly language: string | undefined
  /** The language of a web page, for browser tools. */
  readonly page: string | undefined
}

/**
 * The commands of a tool call, as command lines and argument vectors for packs: shell or terminal
 * text, source code as given to an interpreter, and calls of git, cloud and file tools as
 * equivalent commands.
 */
export function toolCommands(call: ToolCall): readonly ToolCommand[] {
  const fields = fieldsOf(call.arguments)
  const tool = toolOf(call, fields)
  const commands: ToolCommand[] = []
  const add = (command: string | readonly string[], exact = false) => {
    if (command.length > 0) commands.push({ command, exact })
  }
  if (!tool.looks) {
    const { language = tool.language } = { language: languageIn(fields) }
    for (const field of fields) {
      if (isCommand(field, tool)) {
        for (const each of commandsIn(field, fields, tool)) {
          // One word may be anything if the tool does not run commands.
          const isCommand =
            tool.runs || (typeof each === 'string' ? /\S\s+\S/.test(each) : each.length > 1)
          const typed = typeof each === 'string' && !isNamedCommand(field) ? shellLines(each) : each
          if (isCommand) run(typed, language, tool.isShell, add)
          // Typed text may go to an interpreter's prompt.
          if (tool.isTerminal && !isNamedCommand(field)) runSource(field.value, language, add)
        }
      } else if (isSource(field, tool, fields))
        runSource(field.value, language ?? languageOf(field.words) ?? tool.page, add)
    }
    startProgram(fields, add)
    const kind = identityWords(textOf(fields, tables.kindKeys) ?? '')
    const args = kind.some((word) => tables.terminalWords.has(word))
      ? argumentsIn(fields)
      : undefined
    if (args !== undefined) add(args)
    for (const argv of gitCommands(call, tool.words, fields)) add(argv)
    for (const argv of cloudCommands(call, tool.words, fields)) add(argv)
    // A shell may also get the program's name.
    if (!tool.isShell) withProgram(call, tool, commands, fields, add)
  }
  for (const argv of writtenFiles(tool.words, fields)) add(argv)
  return commands
}

/** Whether a tool is a shell: by its whole name, or without its namespace. */
export function isShellTool(name: string): boolean {
  return [name, ownName(name)].some((each) => tables.shellTools.has(identityWords(each).join('_')))
}

function toolOf(call: ToolCall, fields: readonly Field[]): Tool {
  const { tool } = call
  const words = identityWords(ownName(tool))
  const isShell = isShellTool(tool)
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word))
  const looks = tables.lookingWords.has(words[0] ?? '') && !has(tables.runs)
  const language = words
    .map((word) => tables.languages.get(word))
    .find((each) => each !== undefined)
  const types =
    has(tables.typingWords) &&
    !has(tables.otherInputs) &&
    (fields.some(({ key }) => tables.sessionKeys.has(key)) ||
      onServer(call, (word) => tables.terminalWords.has(word)))
  const isTerminal = isShell || ((types || has(tables.terminalWords)) && !has(tables.proseWords))
  return {
    words,
    isShell,
    isTerminal,
    runs: isTerminal || (has(tables.runWords) && !has(tables.proseWords)),
    isCode: has(tables.codeTools) || has(tables.browserWords) || language !== undefined,
    looks: looks && !isShell,
    language: language === 'sh' ? undefined : language,
    page: has(tables.browserWords) ? 'javascript' : undefined,
  }
}

function languageOf(words: readonly string[]): string | undefined {
  return words.map((word) => tables.languages.get(word)).find((each) => each !== undefined)
}

/** `language: 'ruby'`, `shell: 'powershell'`. */
function languageIn(fields: readonly Field[]): string | undefined {
  const words = identityWords(
    textOf(fields, tables.languageKeys)?.replace(/\.exe$|[\d.]+$/g, '') ?? '',
  )
  return languageOf(words)
}

function isCommand({ words, key }: Field, tool: Tool): boolean {
  if (words.some((word) => tables.aboutWords.has(word))) return false
  if (tables.commandKeys.has(key) || words.some((word) => tables.commandWords.has(word)))
    return true
  if (tool.runs && tables.scriptKeys.has(key)) return !tool.isCode || tool.isTerminal
  return tool.isTerminal && (tables.inputKeys.has(key) || key === 'code')
}

function isSource({ key, words }: Field, tool: Tool, fields: readonly Field[]): boolean {
  if (words.some((word) => tables.aboutWords.has(word))) return false
  if (tables.languageKeys.has(key)) return false
  if (!words.some((word) => tables.codeWords.has(word) || tables.languages.has(word))) {
    // A language's tool takes source code in any argument.
    return tool.language !== undefined && words.length === 1 && tables.inputKeys.has(words[0] ?? '')
  }
  const kind = textOf(fields, cellKinds)
  if (kind !== undefined && /^(?:markdown|raw)$/i.test(kind)) return false
  const has = (set: ReadonlySet<string>) => tool.words.some((word) => set.has(word))
  const stores = tables.storingWords.has(tool.words[0] ?? '') && !has(tables.runs)
  return (tool.isCode || tool.runs) && (!stores || has(tables.notebookWords))
}

const cellKinds: ReadonlySet<string> = new Set(['cell_type', 'type', 'kind'])

/** Whether the argument's name means a command, not typed text. */
function isNamedCommand({ words }: Field): boolean {
  return words.some((word) => tables.commandWords.has(word))
}

/** The commands of an argument: text, an argument vector, or several of them. */
function commandsIn(
  { key, words, value }: Field,
  fields: readonly Field[],
  tool: Tool,
): readonly (string | readonly string[])[] {
  const given = unwrapped(value)
  const isCommand = key === 'argv' || tables.commandWords.has(words.at(-1) ?? '')
  if (typeof value === 'string' && !Array.isArray(given)) {
    const args = isCommand ? argumentsIn(fields) : undefined
    if (args !== undefined) return [[value.trim(), ...args], [value, ...args].join(' ')]
    return [tool.isShell && isCommand ? value : terminalText(value)]
  }
  if (isJsonObject(given)) return [textIn(given) ?? '']
  const list = listOf(given)
  if (list === undefined) return []
  // Keys that are typed one after another, or the words of one command.
  if (!isCommand) return [terminalText(list), list]
  const nested = Array.isArray(given) ? given.filter((each) => Array.isArray(each)) : []
  if (nested.length > 0) return nested.map((each) => each.map(String))
  const lines = list.join('\n')
  if (list[0]?.includes(' ')) return [lines]
  const isOne = key === 'argv' || !key.endsWith('s')
  if (isOne) return [list]
  return list.some((each) => each.includes(' ')) ? [lines] : [lines, list]
}

/** The `args` next to a `command`. */
function argumentsIn(fields: readonly Field[]): readonly string[] | undefined {
  const field = fields.find(
    ({ key, value }) => tables.argumentKeys.has(key) && !isJsonObject(value),
  )
  if (field === undefined) return undefined
  if (typeof field.value === 'string' && !Array.isArray(unwrapped(field.value)))
    return field.value.split(/\s+/)
  return listOf(field.value)
}

/** `{ executable: 'rm', args: ['-rf', 'x'] }`. */
function startProgram(fields: readonly Field[], add: (command: readonly string[]) => void): void {
  const program = textOf(fields, tables.programKeys)
  const args = program === undefined ? undefined : argumentsIn(fields)
  if (program !== undefined && args !== undefined) add([program, ...args])
}

type Add = (command: string | readonly string[], exact?: boolean) => void

function run(
  command: string | readonly string[],
  language: string | undefined,
  exact: boolean,
  add: Add,
): void {
  if (typeof command !== 'string') {
    add(command, exact)
    return
  }
  const program = language === undefined ? undefined : tables.interpreters.get(language)
  if (program === undefined) add(command, exact)
  else add([...program, command])
  if (language === 'python') for (const each of notebookCommands(command)) add(each)
}

function runSource(value: JsonValue, language: string | undefined, add: Add): void {
  const list = listOf(value)
  const text =
    typeof value === 'string' ? value : isJsonObject(value) ? textIn(value) : list?.join('')
  if (text === undefined || text === '') return
  const program = language === undefined ? undefined : tables.interpreters.get(language)
  if (language === 'sh') add(text)
  else if (program !== undefined) add([...program, text])
  else {
    // Without a language, the usual ones are tried.
    add(shellLines(text))
    add(['python3', '-c', text])
    add(['node', '-e', text])
  }
  if (language !== 'sh') for (const each of notebookCommands(text)) add(each)
}

/** A line that can only be source code: `import x`, `reboot = True`, `print(x)`, `$x + 1`. */
const programLine =
  /^\s*(?:(?:async|await|class|const|def|from|import|return|var)\s|[\w.$]+\s[-+*/]?=\s|\$\w+\s[-+*/]\s|[\w.]+\((?!\)))/
/** After these a shell may begin another command. */
const separator = /[;|&`]\s*\S|\$\(/

/** The lines of a text that may be for a shell. */
function shellLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => separator.test(line) || !programLine.test(line))
    .join('\n')
}

/**
 * Arguments for a program that the tool or its server is named after, without the program's name.
 */
function withProgram(
  call: ToolCall,
  tool: Tool,
  given: readonly ToolCommand[],
  fields: readonly Field[],
  add: Add,
): void {
  const names = [...tool.words, ...serverWords(call)]
  const programs = new Set(names.filter((word) => tables.cliPrograms.has(word)))
  if (programs.size === 0) return
  const args = given.length === 0 ? argumentsIn(fields) : undefined
  const commands = args === undefined ? given.map(({ command }) => command) : [args]
  for (const command of commands) {
    for (const program of programs) {
      if (typeof command === 'string') add(`${program} ${command}`)
      else if (command[0] !== program) add([program, ...command])
      else add(command)
    }
  }
}

function serverWords({ server }: ToolCall): readonly string[] {
  return server === undefined ? [] : [server.key, ...server.aliases].flatMap(identityWords)
}
