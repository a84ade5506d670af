import { createHash } from 'node:crypto'
import type { GuardedContent } from 'model-gateway/guardrail'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { repeatsKey } from 'model-gateway/wire'

/** The texts of content, as managed checks receive them. */
export function textsOf(content: GuardedContent): readonly string[] {
  switch (content.kind) {
    case 'text':
      return content.segments
    case 'tool_calls':
      return content.calls.map((call) => call.arguments)
    case 'command':
      return [commandText(content.command)]
  }
}

export function commandText(command: string | readonly string[]): string {
  return typeof command === 'string' ? command : JSON.stringify(command)
}

/** Hexadecimal SHA-256 of the concatenated texts in UTF-8. */
export function sha256(texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text)
  return hash.digest('hex')
}

/** The content with new texts in the same places; undefined if one does not fit. */
export function withTexts(
  content: GuardedContent,
  texts: readonly string[],
): GuardedContent | undefined {
  if (texts.length !== textsOf(content).length) return undefined
  switch (content.kind) {
    case 'text':
      return { ...content, segments: texts }
    case 'tool_calls': {
      const calls = content.calls.map((call, index) => ({
        ...call,
        arguments: texts[index] as string,
      }))
      const fits = calls.every((call, index) =>
        isSameObject(content.calls[index]?.arguments, call.arguments),
      )
      return fits ? { ...content, calls } : undefined
    }
    case 'command': {
      const [text = ''] = texts
      if (typeof content.command === 'string') return { ...content, command: text }
      const command = parseJson(text)
      const fits = command !== undefined && sameShape([...content.command], command)
      return fits ? { ...content, command: command as string[] } : undefined
    }
  }
}

/**
 * The parsed arguments of a tool call. Undefined if they are not a JSON object, or can be parsed in
 * two ways. Empty text counts as `{}`.
 */
export function parseArguments(text: string): JsonObject | undefined {
  const value = parseObject(text)
  return value === undefined || repeatsKey(text, 0, value) ? undefined : value
}

function parseObject(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

function isSameObject(before: string | undefined, after: string): boolean {
  if (before === after) return true
  const [was, is] = [parseObject(before ?? ''), parseObject(after)]
  return was !== undefined && is !== undefined && sameShape(was, is)
}

/** Whether two values have the same members, lengths and types. */
export function sameShape(a: JsonValue, b: JsonValue): boolean {
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => sameShape(item, b[index] as JsonValue))
    )
  }
  if (!isJsonObject(a)) return !isJsonObject(b) && !Array.isArray(b) && typeOf(a) === typeOf(b)
  if (!isJsonObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) => Object.hasOwn(b, name) && sameShape(a[name] as JsonValue, b[name] as JsonValue),
    )
  )
}

function typeOf(value: JsonValue): string {
  return value === null ? 'null' : typeof value
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
