import type { GuardInput } from 'model-gateway/guardrail'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { readCommands, type SimpleCommand } from './command.ts'
import type { Finding, ToolCall } from './command-pack.ts'
import { unwrapped } from './json-text.ts'
import { isShellTool } from './tool-commands.ts'
import { identityWords } from './tool-identity.ts'
import { type ToolVerb, toolVerb } from './tool-verbs.ts'
import { wordSet } from './word-lists.ts'
import { OverCap } from './work.ts'

/** How a pack judges the tools of a cloud's servers. */
export interface CloudToolSpec {
  isServer(call: ToolCall): boolean
  /** Words that make an operation destructive: `delete`. */
  readonly verbs: ReadonlySet<string>
  /** Destructive phrases, as identity words joined by `_`. */
  readonly phrases: readonly string[]
  /** The cloud's command-line tools; the first is put before bare arguments. */
  readonly executables: readonly string[]
  readonly ruleId: string
  command(command: SimpleCommand): Finding | undefined
  /** Arguments that contain statements, as identity words joined by `_`. */
  readonly sqlArguments: ReadonlySet<string>
  /** Whether a statement is destructive or unreadable. */
  destroys(statement: string, call: ToolCall): boolean
  /** Other inputs of a harmless name: batches. `path` is the argument's path. */
  argument?(key: string, value: JsonValue, path: string): Finding | undefined
}

const cliKeys = wordSet('command commands cli_command cmd cli args arguments argv')
const operationKeys = wordSet(`
  operation operation_name action api api_name api_method method method_name op verb http_method
  subcommand
`)
const deletingKeys: ReadonlySet<string> = new Set([
  'delete',
  'delete_unmatched_destination_objects',
])
const nestedKeys = wordSet(`
  args arguments body calls input operations params parameters request requests
`)
/** JSON text in these is input of the operation, not data. */
const parsedKeys: ReadonlySet<string> = new Set([...cliKeys, 'params', 'parameters', 'requests'])

const queryWords: ReadonlySet<string> = new Set(['execute', 'queries', 'query', 'sql', 'statement'])

/** Judges a tool call by its server's identity, its name and its arguments. */
export function judgeCloudTool(call: ToolCall, spec: CloudToolSpec): Finding | undefined {
  if (!spec.isServer(call)) return undefined
  const words = identityWords(call.tool)
  const verb = verbOf(call.tool, spec)
  if (verb === 'read' || isDryRun(call.arguments)) return undefined
  if (verb === 'destructive') return { ruleId: spec.ruleId, matchedField: 'tool' }
  const syncs = words.includes('sync') || words.includes('rsync')
  return judgeObject(call, call.arguments, '$', syncs, spec, 0)
}

/**
 * The action of a tool by its name. The part after the last dot has precedence
 * (`backup.plans.delete`), and a query is judged by its SQL.
 */
function verbOf(name: string, spec: CloudToolSpec): ToolVerb {
  const last = toolVerb(wordsOf(name.slice(name.search(/[^./:]*$/))), spec.verbs)
  if (last === 'destructive' || last === 'read') return last
  const words = wordsOf(name)
  const verb = toolVerb(words, spec.verbs)
  if (verb === 'read') return verb
  const joined = words.join('_')
  return spec.phrases.some((phrase) => joined.includes(phrase)) ? 'destructive' : verb
}

function wordsOf(name: string): readonly string[] {
  return identityWords(name).filter((word) => word !== 'query')
}

function isDryRun(given: JsonObject): boolean {
  return Object.entries(given).some(
    ([key, value]) =>
      value === true && ['dry_run', 'dryrun'].includes(identityWords(key).join('_')),
  )
}

function judgeObject(
  call: ToolCall,
  given: JsonObject,
  path: string,
  syncs: boolean,
  spec: CloudToolSpec,
  depth: number,
): Finding | undefined {
  for (const [key, written] of Object.entries(given)) {
    if (written === undefined) continue
    const name = identityWords(key).join('_')
    const value = parsedKeys.has(name) ? unwrapped(written) : written
    const here = `${path}.${key}`
    const finding =
      (operationKeys.has(name) && typeof value === 'string' && verbOf(value, spec) === 'destructive'
        ? { ruleId: spec.ruleId, matchedField: here }
        : undefined) ??
      (syncs && value === true && deletingKeys.has(name)
        ? { ruleId: spec.ruleId, matchedField: here }
        : undefined) ??
      (cliKeys.has(name) ? judgeCli(call, value, here, spec) : undefined) ??
      judgeStatements(name, value, here, call, spec) ??
      spec.argument?.(name, value, here) ??
      (nestedKeys.has(name) && depth < 3
        ? judgeInside(call, value, here, syncs, spec, depth + 1)
        : undefined)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** An object of arguments, or a list of them. */
function judgeInside(
  call: ToolCall,
  value: JsonValue,
  path: string,
  syncs: boolean,
  spec: CloudToolSpec,
  depth: number,
): Finding | undefined {
  if (isJsonObject(value)) return judgeObject(call, value, path, syncs, spec, depth)
  if (!Array.isArray(value)) return undefined
  for (const [i, each] of value.entries()) {
    const here = `${path}[${i}]`
    const finding = isJsonObject(each) && judgeObject(call, each, here, syncs, spec, depth)
    if (finding) return finding
  }
  return undefined
}

/** A tool's `query` is SQL if its name says so; otherwise it is a question or search text. */
function judgeStatements(
  name: string,
  value: JsonValue,
  path: string,
  call: ToolCall,
  spec: CloudToolSpec,
): Finding | undefined {
  if (!spec.sqlArguments.has(name)) return undefined
  if (name === 'query' && !identityWords(call.tool).some((word) => queryWords.has(word)))
    return undefined
  const statements = Array.isArray(value) ? value : [value]
  return statements.some((each) => typeof each === 'string' && spec.destroys(each, call))
    ? { ruleId: 'query', matchedField: path }
    : undefined
}

/**
 * Command lines of the cloud's tool, with or without the tool's name: a text, a vector, or several
 * texts. Commands for a shell are read where all packs read them.
 */
function judgeCli(
  call: ToolCall,
  value: JsonValue,
  path: string,
  spec: CloudToolSpec,
): Finding | undefined {
  if (isShellTool(call.tool)) return undefined
  for (const command of cliCommands(call, value, spec)) {
    const input: GuardInput = { kind: 'command', phase: call.phase, command }
    const { commands = [], unreadable } = readCommands(input) ?? {}
    if (unreadable !== undefined && unreadable !== 'syntax') throw new OverCap(unreadable)
    for (const each of commands) {
      const finding = spec.command(each)
      if (finding !== undefined) return { ...finding, matchedField: path }
    }
  }
  return undefined
}

function cliCommands(
  call: ToolCall,
  value: JsonValue,
  spec: CloudToolSpec,
): readonly (string | readonly string[])[] {
  const words = identityWords(call.tool)
  const main = spec.executables.find((name) => words.includes(name)) ?? spec.executables[0] ?? ''
  const whole = (line: string) =>
    spec.executables.some((name) => line.trimStart().startsWith(`${name} `))
      ? line
      : `${main} ${line}`
  if (typeof value === 'string') return [whole(value)]
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return []
  const given = value.map(String)
  const [first] = given
  if (first === undefined) return []
  if (first.includes(' ')) return given.map(whole)
  return [spec.executables.includes(first) ? given : [main, ...given]]
}
