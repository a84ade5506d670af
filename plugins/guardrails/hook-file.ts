import {
  findNodeAtLocation,
  type JSONPath,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Agent } from './hook-agents.ts'

/** A hook of ours in a settings file. */
export interface FoundHook {
  /** Its place in the file. */
  readonly path: JSONPath
  readonly command: string
}

/** The gateway's hooks in a file. Throws Error for a file that the agent cannot read. */
export function findHooks(text: string, agent: Agent): readonly FoundHook[] {
  const entries = listOf(read(text, agent), agent)
  return entries.flatMap((entry, at) => {
    const path: JSONPath = [...agent.list, at]
    if (agent.group === undefined) return ours(entry, path, agent)
    const hooks = isJsonObject(entry) && Array.isArray(entry.hooks) ? entry.hooks : []
    return hooks.flatMap((hook, k) => ours(hook, [...path, 'hooks', k], agent))
  })
}

/** The text with the hook added once. All other bytes stay unchanged. */
export function withHook(text: string, agent: Agent, command: string): string {
  const [known, ...others] = findHooks(text, agent)
  const hook = { ...agent.hook, [agent.command]: command }
  if (known === undefined) {
    const begun = text.trim() === '' ? `${JSON.stringify(agent.head ?? {}, undefined, 2)}\n` : text
    const [event, kind] = agent.list
    const entry = agent.group === undefined ? hook : { ...agent.group, hooks: [hook] }
    const settings = read(begun, agent)
    if (at(settings, [...agent.list]) !== undefined) return insert(begun, [event, kind], entry)
    if (at(settings, [event]) !== undefined) return insert(begun, [event], [entry], kind)
    return insert(begun, [], { [kind]: [entry] }, event)
  }
  let result = withoutPaths(text, agent, others)
  for (const [name, value] of Object.entries(hook)) {
    const member = at(read(result, agent), [...known.path, name])
    if (member === undefined) result = insert(result, known.path, value, name)
    else if (name === agent.command && member !== value) {
      result = replace(result, [...known.path, name], value)
    }
  }
  return result
}

/**
 * The text without the gateway's hooks and the lists that only held them; undefined if nothing is
 * left.
 */
export function withoutHook(text: string, agent: Agent): string | undefined {
  const result = withoutPaths(text, agent, findHooks(text, agent))
  const left = Object.keys((read(result, agent) ?? {}) as object)
  return left.every((name) => agent.head !== undefined && name in agent.head) ? undefined : result
}

/** Whether the settings disable all hooks. */
export function isSwitchedOff(text: string, agent: Agent): boolean {
  return agent.off !== undefined && at(read(text, agent), [...agent.off.path]) === agent.off.value
}

function withoutPaths(text: string, agent: Agent, hooks: readonly FoundHook[]): string {
  let result = text
  // From last to first, so that the remaining paths stay valid.
  for (const { path } of hooks.toReversed()) {
    let end = path.length
    result = remove(result, path)
    while (--end > 0) {
      const holder = path.slice(0, end)
      const value = at(read(result, agent), holder)
      const isEntry = typeof path[end - 1] === 'number'
      const inner = isEntry && isJsonObject(value) ? (value.hooks ?? []) : value
      if (typeof inner !== 'object' || inner === null || Object.keys(inner).length > 0) break
      result = remove(result, holder)
    }
  }
  return result
}

function ours(hook: JsonValue | undefined, path: JSONPath, agent: Agent): readonly FoundHook[] {
  const command = isJsonObject(hook) ? hook[agent.command] : undefined
  if (typeof command !== 'string') return []
  const asks = /\bguard\s.*--format[ =](\w+)/s.exec(command)
  return asks?.[1] === agent.format ? [{ path, command }] : []
}

function listOf(settings: JsonValue | undefined, agent: Agent): readonly JsonValue[] {
  const [event, kind] = agent.list
  const hooks = isJsonObject(settings) ? settings[event] : undefined
  if (hooks === undefined) return []
  if (!isJsonObject(hooks)) throw new Error(`"${event}" must be an object`)
  const list = hooks[kind]
  if (list === undefined) return []
  if (!Array.isArray(list)) throw new Error(`"${event}.${kind}" must be a list`)
  return list
}

/** Throws Error if the agent itself could not read the file. */
function read(text: string, { comments }: Agent): JsonValue | undefined {
  if (text.trim() === '') return undefined
  const errors: ParseError[] = []
  const options = { disallowComments: !comments, allowTrailingComma: comments }
  const value = parse(text, errors, options) as JsonValue
  const [error] = errors
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length
    throw new Error(`not valid JSON: ${printParseErrorCode(error.error)} in line ${line}`)
  }
  if (!isJsonObject(value)) throw new Error('must be a JSON object')
  return value
}

function at(value: JsonValue | undefined, path: JSONPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (inner, key) => (inner as Record<string | number, JsonValue> | undefined)?.[key],
    value,
  )
}

function replace(text: string, path: JSONPath, value: unknown): string {
  const { offset, length } = nodeAt(text, path)
  return text.slice(0, offset) + JSON.stringify(value) + text.slice(offset + length)
}

/** Removes a value from its list, or a member from its object. */
function remove(text: string, path: JSONPath): string {
  const value = nodeAt(text, path)
  const node = value.parent?.type === 'property' ? value.parent : value
  const siblings = node.parent?.children ?? []
  const k = siblings.indexOf(node)
  const [previous, next] = [siblings[k - 1], siblings[k + 1]]
  const isLast = next === undefined && previous !== undefined
  const from = isLast ? previous.offset + previous.length : node.offset
  return text.slice(0, from) + text.slice(next?.offset ?? node.offset + node.length)
}

function nodeAt(text: string, path: JSONPath): Node {
  const root = parseTree(text)
  const node = root && findNodeAtLocation(root, path)
  if (node === undefined) throw new Error(`it has no ${path.join('.')}`)
  return node
}

/** Appends a value to a list or an object, on separate lines. */
function insert(text: string, path: JSONPath, value: unknown, name?: string): string {
  const holder = nodeAt(text, path)
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const outer = indentAt(text, holder.offset)
  const last = holder.children?.at(-1)
  const pad = last === undefined ? outer + unit : indentAt(text, last.offset)
  const written = `${name === undefined ? '' : `${JSON.stringify(name)}: `}${JSON.stringify(value, undefined, unit)}`
  const lines = pad + written.replaceAll('\n', eol + pad)
  const from = last === undefined ? holder.offset + 1 : last.offset + last.length
  const to = last === undefined ? holder.offset + holder.length - 1 : from
  const before = text.slice(0, from) + (last === undefined ? '' : ',')
  return `${before}${eol}${lines}${last === undefined ? eol + outer : ''}${text.slice(to)}`
}

/** The indentation of the line at an offset. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}
