import type { GuardInput, GuardrailPack, PackMatch, PackRule } from 'model-gateway/guardrail'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { judgeDeletion, judgeProgram } from './programs.ts'
import { rules, uninstallRelease, unreadable } from './rules.ts'
import { readCommands } from './words.ts'

/** What the pack reads from an input: calls of the two programs, or a structured tool call. */
interface Seen {
  readonly reading: JsonValue
  readonly rule: PackRule | undefined
  readonly matchedField: string
}

const nothing: Seen = { reading: null, rule: undefined, matchedField: '' }

const programs = new Set(['kubectl', 'helm'])
/** A program's name as a word or after an absolute path: not `helm-docs`, not `charts/helm`. */
const MENTION = /(?:^|[^\w./-]|(?:^|[^\w.-])\.{0,2}\/(?:[\w.-]+\/)*)(?:kubectl|helm)(?![\w./-])/

/** Wrappers that run the following program unchanged. */
const wrappers = new Set(['sudo', 'command', 'exec', 'nohup', 'time', 'env'])
/** Programs that never run their arguments. */
const readers = new Set([
  'cd',
  'git',
  'make',
  'echo',
  'printf',
  'grep',
  'rg',
  'which',
  'man',
  'ls',
  'cat',
  'head',
  'tail',
])
/** Programs that run their arguments or input as commands. */
const runners = new Set(['sh', 'bash', 'zsh', 'dash', 'eval', 'xargs', 'source', '.', 'parallel'])

/** Tools that run a command line, by the name that agents give them. */
const shellTools = new Set(['bash', 'shell', 'sh', 'run_command', 'terminal', 'execute_command'])
const commandFields = ['command', 'cmd']

function look(input: GuardInput): Seen {
  if (input.kind === 'command') return lookAtCommand(input.command)
  const tool = toolOf(input)
  if (tool !== undefined) return lookAtTool(tool, input.arguments)
  if (!shellTools.has(input.tool.toLowerCase())) return nothing
  for (const field of commandFields) {
    const command = input.arguments[field]
    if (typeof command === 'string' || isListOfTexts(command)) {
      return { ...lookAtCommand(command), matchedField: `$.${field}` }
    }
  }
  return nothing
}

function lookAtCommand(command: string | readonly string[]): Seen {
  const matchedField = 'command.arguments'
  if (typeof command !== 'string') return { ...lookAtWords([command]), matchedField }
  // Quotes and backslashes may be inside a name: ku'be'ctl.
  const mentioned = MENTION.test(command.replaceAll(/\\\n|['"\\]/g, ''))
  if (!mentioned) return nothing
  const reading = readCommands(command)
  if (reading.kind === 'unreadable')
    return { reading: 'unreadable', rule: unreadable, matchedField }
  return { ...lookAtWords(reading.commands), matchedField }
}

/** Commands that run in sequence; the first match decides. */
function lookAtWords(commands: readonly (readonly string[])[]): Seen {
  const runs = commands.some(([program = '']) => runners.has(nameOf(program)))
  const reading: JsonValue[] = []
  let rule: PackRule | undefined
  for (const words of commands) {
    const mentions = words.some((word) => MENTION.test(word))
    if (!mentions) continue
    const start = words.findIndex((word) => !isAssignment(word) && !wrappers.has(nameOf(word)))
    const program = nameOf(words[start] ?? '')
    if (programs.has(program)) {
      const found = judgeProgram(program, words.slice(start + 1))
      reading.push({ program, rule: found?.id ?? null })
      rule ??= found
    } else if (runs || !readers.has(program)) {
      reading.push('unreadable')
      rule ??= unreadable
    }
  }
  return { reading, rule, matchedField: 'command.arguments' }
}

/** `kubectl` for `/usr/local/bin/kubectl`. */
function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

function isAssignment(word: string): boolean {
  return /^\w+=/.test(word)
}

/** The tool's name on a Kubernetes server: by server key, alias, or the tool's prefix. */
function toolOf({ server, tool }: GuardInput & { kind: 'tool_call' }): string | undefined {
  const names = server === undefined ? [] : [server.key, ...server.aliases]
  if (names.includes('kubernetes')) return tool
  return /^kubernetes(?:\.|__)(.+)$/.exec(tool)?.[1]
}

/** `kubectl` and `helm` with a list of arguments, and tools for one action. */
function lookAtTool(tool: string, args: JsonObject): Seen {
  if (programs.has(tool)) {
    const { args: words = [] } = args
    const seen = isListOfTexts(words) ? lookAtWords([[tool, ...words]]) : undefined
    return seen === undefined
      ? { reading: 'unreadable', rule: unreadable, matchedField: '$.args' }
      : { ...seen, matchedField: '$.args' }
  }
  if (tool === 'uninstall_release') return ruled(tool, uninstallRelease, 'tool')
  if (tool !== 'delete_resource') return nothing
  if (args.dry_run === true) return ruled(tool, undefined, 'tool')
  const { kind } = args
  const kinds = typeof kind === 'string' ? [kind] : []
  const found = judgeDeletion(kinds, { all: args.name === undefined, force: args.force === true })
  return ruled(tool, found, '$.kind')
}

function ruled(tool: string, rule: PackRule | undefined, matchedField: string): Seen {
  return { reading: { tool, rule: rule?.id ?? null }, rule, matchedField }
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Never quotes the input: `matchedField` names only the field. */
function matchOf({ rule, matchedField }: Seen): PackMatch | undefined {
  if (rule === undefined) return undefined
  const { id, ...told } = rule
  return { packId: kubernetesPack.id, ruleId: id, matchedField, ...told }
}

/** Pure and synchronous: the same input always has the same verdict. */
export const kubernetesPack: GuardrailPack = {
  id: 'custom.kubernetes',
  aliases: ['kubernetes'],
  version: '1.0.0',
  summary: 'Permanent deletion by kubectl, helm and Kubernetes tools.',
  phases: ['generated_tool_call', 'mcp_call', 'harness_pre_tool'],
  rules,
  evaluate: (input) => matchOf(look(input)),
  explain(input) {
    const seen = look(input)
    return { reading: seen.reading, match: matchOf(seen) }
  },
}
