import { isJsonObject } from 'model-gateway/plugin'
import type { SimpleCommand, Word } from '../_shared/command.ts'
import { type Option, type Options, readOptions } from '../_shared/command-options.ts'
import { knownInput } from '../_shared/command-output.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { readBody } from '../_shared/json-text.ts'
import { toolVerb } from '../_shared/tool-verbs.ts'
import { cliOptions, destructiveVerbs, executables, trashingFlags } from './rules.ts'
import { judgeArguments } from './tools.ts'

const denied: Finding = { ruleId: 'cli', matchedField: 'command.arguments' }
/** Maximum depth of a command's verb: `pages trash`, `workers env delete`. */
const DEEPEST = 3

/** Judges one call of the vendor's command-line tool. */
export function judgeCommand(command: SimpleCommand): Finding | undefined {
  // `npx ntn@latest`.
  if (!executables.has(command.executable) && !command.executable.startsWith('ntn@'))
    return undefined
  const given = readOptions(command.words, cliOptions)
  if (given.has('--help', '--docs', '--spec', '-h')) return undefined
  const path = given.operands.slice(0, DEEPEST).map(({ text }) => text)
  const [group] = path
  if (path.slice(0, 2).includes('help')) return undefined
  // The first operand is a group; the first later verb decides. `search` has no group.
  const searches = toolVerb(path.slice(0, 1), destructiveVerbs) === 'read'
  const verb = searches ? 'read' : toolVerb(path.slice(1), destructiveVerbs)
  const called = group === 'api' || group === 'tools'
  if ((called || verb !== 'read') && given.options.some(trashesByOption)) return denied
  if (group === 'api') return judgeRequest(given, command)
  if (group === 'tools') return judgeToolCall(given, command)
  return verb === 'destructive' ? denied : undefined
}

function trashesByOption({ name, value }: Option): boolean {
  return trashingFlags.has(name.slice(2).replaceAll('-', '_')) && value?.text !== 'false'
}

/** `ntn api PATH -X DELETE`, `in_trash:=true`, `-d '{"archived":true}'`. */
function judgeRequest(given: Options, command: SimpleCommand): Finding | undefined {
  const method = given.value('-X', '--method')?.text.toUpperCase()
  if (method === 'DELETE') return denied
  const [, path, ...fields] = given.operands
  if (/\/move\/?$/.test(path?.text ?? '')) return denied
  if (/\/(?:query|search)\/?$/.test(path?.text ?? '')) return undefined
  return fields.some(trashes) || trashesInBody(given, command) ? denied : undefined
}

function judgeToolCall(given: Options, command: SimpleCommand): Finding | undefined {
  const [, , tool] = given.operands
  const words = tool?.text.toLowerCase().split(/[-_.]/) ?? []
  return toolVerb(words, destructiveVerbs) === 'destructive' || trashesInBody(given, command)
    ? denied
    : undefined
}

/** A field of a request's body: `name=value` is text, `name:=value` is JSON. */
function trashes({ text }: Word): boolean {
  const [, name = '', value = ''] = /^([\w[\]]+):?=([\s\S]*)$/.exec(text) ?? []
  if (trashingFlags.has(name)) return value === 'true'
  return (name === 'type' || name === 'command') && value.startsWith('replace_content')
}

function trashesInBody(given: Options, { stdin }: SimpleCommand): boolean {
  const text = given.value('-d', '--data')?.text ?? '-'
  const body = readBody((/^@?-$/.test(text) ? knownInput(stdin) : text) ?? '')
  return isJsonObject(body) && judgeArguments(body, false) !== undefined
}
