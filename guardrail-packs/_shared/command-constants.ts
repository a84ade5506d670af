import type { SyntaxNode } from 'unbash'
import type { Word } from './command.ts'
import { assignedValue, eachChild } from './command-assignment.ts'
import { limits } from './command-state.ts'

/** The values of a text's variables, if each has exactly one. */
export interface Scope {
  /** The fields of a variable; `undefined` if unknown. */
  lookup(name: string, evaluate: Evaluate): readonly Word[] | undefined
  /** Stores an assigned value; `undefined` if it cannot be known. */
  record(name: string, words: readonly Word[] | undefined): void
  /** Sets `$1`, `$2`, …: `set -- a b`, `shift`. */
  setArguments(words: readonly Word[] | undefined): void
}

type Value = Extract<SyntaxNode, { type: 'Word' | 'ArrayValue' }>
export type Evaluate = (value: Value) => readonly Word[]

interface Entry {
  count: number
  value: Value | undefined
  busy: boolean
}

/** A function has separate `$1` and `$@`, which are unknown where it is defined. */
export function functionScope({ lookup, record }: Scope): Scope {
  let given: readonly Word[] | undefined
  return {
    lookup: (name, evaluate) =>
      /^[1-9@*]$/.test(name) ? argument(given, name) : lookup(name, evaluate),
    record,
    setArguments(words) {
      given = words
    },
  }
}

export const noScope: Scope = { lookup: () => undefined, record: () => {}, setArguments: () => {} }

function argument(given: readonly Word[] | undefined, name: string): readonly Word[] | undefined {
  if (given === undefined || name === '@' || name === '*') return given
  const word = given[Number(name) - 1]
  return word && [word]
}

/** `shift`, `set -- a b`, `set a b`; but `set -e` does not change `$1`, `$2`, …. */
const changesArguments = /\bshift\b|\bset\s+(?:-\w+\s+)*--(?=\s|$)|\bset\s+[^-+\s;&|]/

/** `positional` is `$0`, `$1`, … of the text. Outer variables are visible. */
export function createScope(
  root: SyntaxNode,
  source: string,
  outer: Scope,
  positional?: readonly Word[],
): Scope {
  let entries: Map<string, Entry> | undefined
  let assignable: ReadonlySet<string> | undefined
  const recorded = new Map<string, readonly Word[] | undefined>()
  let changes: boolean | undefined
  let given: readonly Word[] | undefined

  return {
    setArguments(words) {
      given = words
    },
    lookup(name, evaluate) {
      if (/^[0-9@*]$/.test(name)) {
        if (given !== undefined && name !== '0') return argument(given, name)
        if (positional === undefined) return outer.lookup(name, evaluate)
        if (name === '@' || name === '*') {
          changes ??= changesArguments.test(source)
          return changes ? undefined : positional.slice(1)
        }
        const word = positional[Number(name)]
        return word && [word]
      }
      if (recorded.has(name) && recorded.get(name) === undefined) return undefined
      assignable ??= assignedNames(source)
      if (!assignable.has(name)) return outer.lookup(name, evaluate)
      entries ??= collect(root)
      const entry = entries.get(name)
      if (entry === undefined) return outer.lookup(name, evaluate)
      if (entry.count !== 1) return undefined
      const known = recorded.get(name)
      if (known !== undefined) return known
      // Values that run commands are evaluated once, where they are.
      const { value } = entry
      if (value === undefined || entry.busy || runsCommands(value)) return undefined
      entry.busy = true
      const words = evaluate(value)
      entry.busy = false
      recorded.set(name, words)
      return words
    },
    record: (name, words) => void recorded.set(name, words),
  }
}

/** The names that a text may assign: most variables are only read. */
function assignedNames(source: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { index } of source.matchAll(/[=[]/g)) {
    const end = source[index - 1] === '+' ? index - 1 : index
    let start = end
    while (start > 0 && isNameCode(source.charCodeAt(start - 1))) start--
    if (start < end) names.add(source.slice(start, end))
  }
  for (const [, name] of source.matchAll(/\b(?:for|select)[\s\\]+(\w+)/g))
    if (name !== undefined) names.add(name)
  return names
}

/** A letter, a digit or an underscore. */
function isNameCode(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 95
}

function runsCommands(value: Value): boolean {
  if (value.type === 'ArrayValue') return value.elements.some(runsCommands)
  return /[`(]/.test(value.text)
}

function collect(root: SyntaxNode): Map<string, Entry> {
  const entries = new Map<string, Entry>()

  function assigned(name: string, value: Value | undefined): void {
    const entry = entries.get(name)
    if (entry === undefined) entries.set(name, { count: 1, value, busy: false })
    else entry.count++
  }

  function visit(node: SyntaxNode, depth: number): void {
    if (depth > 8 * limits.nesting) return
    if (node.type === 'Assignment') {
      assigned(node.name, assignedValue(node))
      if (node.append || node.index !== undefined) assigned(node.name, undefined)
    } else if (node.type === 'For' || node.type === 'Select') {
      assigned(node.name.value, node.wordlist?.length === 1 ? node.wordlist[0] : undefined)
    }
    eachChild(node, (child) => visit(child, depth + 1))
  }

  visit(root, 0)
  return entries
}
