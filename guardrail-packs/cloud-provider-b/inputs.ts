import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { parseJson } from '../_shared/json-text.ts'
import { judgeSql } from '../_shared/sql.ts'
import type { InputRule } from './rules.ts'

/** Where a text has an unknown part. */
const unknown = /[$`]/

/** The rule by which an input is denied. */
type InputRuleId = 'batch' | 'query'

/** Judges the text of a statement or batch, in JSON, YAML or the tool's shorthand syntax. */
export function judgeInput(text: string, kind: InputRule['kind']): InputRuleId | undefined {
  switch (kind) {
    case 'sql':
      return judgeStatement(text) ? 'query' : undefined
    case 'partiql':
      return statementsOf(text).some(removesItem) ? 'query' : undefined
    case 'batch':
      return deletes(parsed(text)) || shorthandDeletes(text) ? 'batch' : undefined
  }
}

/** Judges a JSON value of an argument. */
export function deletes(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(deletes)
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([key, inside]) => {
    if (isData(key, inside)) return false
    if (key === 'DeleteRequest' || (key === 'Delete' && isJsonObject(inside))) return true
    if (/^action$/i.test(key) && typeof inside === 'string') return /^delete$/i.test(inside)
    return deletes(inside)
  })
}

/** Data, not an action; a list contains the requests of a table with that name. */
function isData(key: string, value: JsonValue | undefined): boolean {
  return /^(?:item|expressionattributevalues)$/i.test(key) && !Array.isArray(value)
}

/** Whether only names and values of a batch are unknown, but none of its actions. */
export function showsActions(text: string): boolean {
  const value = parsed(text)
  return typeof value === 'object' && value !== null && !hidesAction(value)
}

function hidesAction(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hidesAction)
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([key, inside]) => {
    if (isData(key, inside)) return false
    if (/^action$/i.test(key) && typeof inside === 'string') return unknown.test(inside)
    // A table's name may be unknown, a request's name may not.
    return (unknown.test(key) && !Array.isArray(inside)) || hidesAction(inside)
  })
}

/** Whether a query drops, empties or changes everything, or is unreadable. */
function judgeStatement(text: string): boolean {
  return (
    judgeSql(text, 'any') !== undefined || statementsOf(text).some((each) => judgeSql(each, 'any'))
  )
}

function removesItem(statement: string): boolean {
  return /^\s*delete\b/i.test(statement) || judgeSql(statement, 'any') !== undefined
}

/** The statements in JSON or shorthand (`Statement="…"`), or the text itself. */
function statementsOf(text: string): readonly string[] {
  const value = parsed(text)
  if (value !== undefined) return strings(value)
  const found = [...text.matchAll(/Statement=(?:"([^"]*)"|'([^']*)'|([^,}]*))/gi)]
  return found.length === 0 ? [text] : found.map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

function strings(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(strings)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, inside]) =>
    /parameters$/i.test(key) ? [] : strings(inside),
  )
}

/** `Changes=[{Action=DELETE,…}]`, `table=[{DeleteRequest={…}}]`, and the same in YAML. */
function shorthandDeletes(text: string): boolean {
  if (parsed(text) !== undefined) return false
  return (
    /\baction["']?\s*[=:]\s*["']?delete\b/i.test(text) ||
    /\bDelete(?:Request)?["']?\s*[=:]\s*[{\s]/.test(text)
  )
}

function parsed(text: string): JsonValue | undefined {
  return /^\s*[[{"]/.test(text) ? parseJson(text) : undefined
}
