import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { readBody } from '../_shared/json-text.ts'
import { readSql } from '../_shared/sql-script.ts'
import { judgeStatement } from '../_shared/sql-statement.ts'
import { standardReading } from '../_shared/sql-tokens.ts'
import { identityWords, onServer } from '../_shared/tool-identity.ts'
import { toolVerb } from '../_shared/tool-verbs.ts'
import {
  actionKeys,
  contentKeys,
  destructiveVerbs,
  overwriting,
  serverName,
  trashingFlags,
} from './rules.ts'

const MAX_DEPTH = 6

/** Judges a call of a tool on one of the vendor's servers. */
export function judgeTool(call: ToolCall): Finding | undefined {
  if (!onServer(call, (word) => serverName.test(word))) return undefined
  const words = identityWords(call.tool)
  const verb = toolVerb(words, destructiveVerbs)
  if (verb === 'read') return undefined
  if (verb === 'destructive' || putsAway(words) || empties(words)) {
    return { ruleId: 'tool', matchedField: 'tool' }
  }
  if (verb === 'none' && readsOnly(call.arguments) && !words.includes('patch')) return undefined
  const ofSchema = words.includes('database') || words.includes('source')
  return judgeArguments(call.arguments, ofSchema)
}

/** A tool with several actions, called for a read: `{ action: 'list', archived: true }`. */
function readsOnly({ action, operation }: JsonObject): boolean {
  const asked = action ?? operation
  return typeof asked === 'string' && toolVerb(identityWords(asked), destructiveVerbs) === 'read'
}

/** `send_page_to_trash`, whose verb alone is not enough. */
function putsAway(words: readonly string[]): boolean {
  return (
    /^(?:trash|archive|bin)$/.test(words.at(-1) ?? '') &&
    /^(?:to|in|into)$/.test(words.at(-2) ?? '')
  )
}

/** `clear_page_content`, but `clear_filters`. */
function empties(words: readonly string[]): boolean {
  return words.includes('clear') && words.some((word) => /^(?:page|content|block)s?$/.test(word))
}

/** Judges the values that an update, or a prepared request, sets. */
export function judgeArguments(given: JsonObject, ofSchema: boolean): Finding | undefined {
  return judgeObject(given, '$', 0) ?? (ofSchema ? judgeSchema(given) : undefined)
}

function judgeObject(given: JsonObject, path: string, depth: number): Finding | undefined {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue
    const name = identityWords(key).join('_')
    if (contentKeys.has(name) && typeof value !== 'boolean') continue
    const here = `${path}.${trashingFlags.has(name) || actionKeys.has(name) ? key : '*'}`
    if (trashingFlags.has(name) && isTrue(value))
      return { ruleId: 'update-flag', matchedField: here }
    if (actionKeys.has(name) && isDestructiveAction(value)) {
      return { ruleId: 'action', matchedField: here }
    }
    const finding = judgeInside(value, here, depth + 1)
    if (finding !== undefined) return finding
  }
  return undefined
}

function judgeInside(value: JsonValue, path: string, depth: number): Finding | undefined {
  if (depth > MAX_DEPTH) return undefined
  if (typeof value === 'string') {
    const body = readBody(value)
    return body === undefined ? undefined : judgeInside(body, path, depth + 1)
  }
  if (!Array.isArray(value))
    return isJsonObject(value) ? judgeObject(value, path, depth) : undefined
  for (const [i, each] of value.entries()) {
    const finding = judgeInside(each, `${path}[${i}]`, depth + 1)
    if (finding !== undefined) return finding
  }
  return undefined
}

function isTrue(value: JsonValue): boolean {
  return (
    value === true ||
    value === 1 ||
    (typeof value === 'string' && /^(?:true|1|yes)$/i.test(value.trim()))
  )
}

function isDestructiveAction(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(isDestructiveAction)
  if (typeof value !== 'string' || value.length > 64) return false
  const words = identityWords(value)
  return overwriting.has(words.join('_')) || toolVerb(words, destructiveVerbs) === 'destructive'
}

/** A property set to null is dropped; so is one that a statement drops. */
function judgeSchema(given: JsonObject): Finding | undefined {
  const { properties, statements } = given
  if (isJsonObject(properties) && Object.values(properties).includes(null)) {
    return { ruleId: 'schema', matchedField: '$.properties' }
  }
  const texts = Array.isArray(statements) ? statements : [statements]
  for (const text of texts) {
    if (typeof text !== 'string') continue
    for (const statement of readSql(text, standardReading).statements) {
      if (statement.kind !== 'sql') continue
      if (judgeStatement(statement.tokens, () => undefined) !== undefined) {
        return { ruleId: 'schema', matchedField: '$.statements' }
      }
    }
  }
  return undefined
}
