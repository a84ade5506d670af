import {
  type GuardInput,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from 'model-gateway/plugin'
import { readCommands, type SimpleCommand } from './command.ts'
import type { Finding, ToolCall } from './command-pack.ts'
import { identityWords } from './tool-identity.ts'
import { toolVerb } from './tool-verbs.ts'

/** How a pack judges the tools of a cloud's servers. */
export interface CloudToolSpec {
  isServer(call: ToolCall): boolean
  /** Words that make an operation destructive: `delete`. */
  readonly verbs: ReadonlySet<string>
  /** Whole phrases that do, in identity words joined by `_`. */
  readonly phrases: readonly string[]
  /** The clouds' own command-line tools; the first stands before bare arguments. */
  readonly executables: readonly string[]
  readonly ruleId: string
  command(command: SimpleCommand): Finding | undefined
  /** What a harmless name may still carry: SQL, batches. `path` is where the argument stands. */
  argument(key: string, value: JsonValue, path: string): Finding | undefined
}

const cliKeys: ReadonlySet<string> = new Set([
  'command',
  'cli_command',
  'cmd',
  'cli',
  'args',
  'arguments',
  'argv',
])
const operationKeys: ReadonlySet<string> = new Set([
  'operation',
  'operation_name',
  'action',
  'api',
  'api_name',
  'api_method',
  'method',
  'method_name',
  'op',
  'verb',
  'http_method',
  'subcommand',
])
const deletingKeys: ReadonlySet<string> = new Set([
  'delete',
  'delete_unmatched_destination_objects',
])
const nestedKeys: ReadonlySet<string> = new Set([
  'input',
  'params',
  'parameters',
  'request',
  'body',
])

/** Judges a tool call by its server's identity, its name and its arguments. */
export function judgeCloudTool(call: ToolCall, spec: CloudToolSpec): Finding | undefined {
  if (!spec.isServer(call)) return undefined
  const words = identityWords(call.tool)
  const verb = verbOf(words, spec)
  if (verb === 'read' || isDryRun(call.arguments)) return undefined
  if (verb === 'destructive') return { ruleId: spec.ruleId, matchedField: 'tool' }
  const syncs = words.includes('sync') || words.includes('rsync')
  return judgeObject(call, call.arguments, '$', syncs, spec, 0)
}

function verbOf(words: readonly string[], spec: CloudToolSpec) {
  const name = words.join('_')
  return spec.phrases.some((phrase) => name.includes(phrase))
    ? 'destructive'
    : toolVerb(words, spec.verbs)
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
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue
    const name = identityWords(key).join('_')
    const here = `${path}.${key}`
    const finding =
      (operationKeys.has(name) &&
      typeof value === 'string' &&
      verbOf(identityWords(value), spec) === 'destructive'
        ? { ruleId: spec.ruleId, matchedField: here }
        : undefined) ??
      (syncs && value === true && deletingKeys.has(name)
        ? { ruleId: spec.ruleId, matchedField: here }
        : undefined) ??
      (cliKeys.has(name) ? judgeCli(call, value, here, spec) : undefined) ??
      spec.argument(name, value, here) ??
      (nestedKeys.has(name) && isJsonObject(value) && depth < 3
        ? judgeObject(call, value, here, syncs, spec, depth + 1)
        : undefined)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** A command line of the cloud's own tool, with or without the tool's name, as text or as a vector. */
function judgeCli(
  call: ToolCall,
  value: JsonValue,
  path: string,
  spec: CloudToolSpec,
): Finding | undefined {
  const command = cliCommand(value, spec)
  if (command === undefined) return undefined
  const input: GuardInput = { kind: 'command', phase: call.phase, command }
  for (const each of readCommands(input)?.commands ?? []) {
    const finding = spec.command(each)
    if (finding !== undefined) return { ...finding, matchedField: path }
  }
  return undefined
}

function cliCommand(value: JsonValue, spec: CloudToolSpec): string | string[] | undefined {
  const [main = ''] = spec.executables
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every((each) => typeof each === 'string')) return undefined
    const given = value.map(String)
    return spec.executables.includes(given[0] ?? '') ? given : [main, ...given]
  }
  if (typeof value !== 'string') return undefined
  const named = spec.executables.some((name) => value.trimStart().startsWith(`${name} `))
  return named ? value : `${main} ${value}`
}
