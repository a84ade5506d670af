import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { skipSpace, visitJson, type WrittenNumber } from 'model-gateway/wire'

/** The comparison key of an id: 1 and "1" differ, and so do any two different numbers. */
export type RpcId = string | number | WrittenNumber

export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number' || JSON.isRawJSON(value)
}

export function sameId(one: JsonValue | undefined, other: RpcId | undefined): boolean {
  if (one === other) return true
  return JSON.isRawJSON(one) && JSON.isRawJSON(other) && one.rawJSON === other.rawJSON
}

/** Whether some clients treat these as the same id, such as 1 and "1". */
export function similarIds(one: JsonValue | undefined, other: RpcId | undefined): boolean {
  return isId(one) && isId(other) && textOf(one) === textOf(other)
}

function textOf(id: RpcId): string {
  return JSON.isRawJSON(id) ? id.rawJSON : String(id)
}

/** A value parsed from `written`, with all digits of the original. */
export function exact(value: JsonValue | undefined, written: string): JsonValue | undefined {
  return isRounded(value) ? JSON.rawJSON(written) : value
}

/** The message or batch that was parsed from `text`, with exact ids. */
export function withExactIds(text: string, value: JsonValue): JsonValue {
  const at = skipSpace(text, 0)
  if (Array.isArray(value)) {
    if (value.some(hasRoundedId)) {
      visitJson(text, at, (index, from) => makeExact(value[index as number], text, from))
    }
  } else makeExact(value, text, at)
  return value
}

function makeExact(message: JsonValue | undefined, text: string, at: number): void {
  if (!hasRoundedId(message)) return
  message.id = exact(message.id, memberText(text, at, 'id'))
}

function hasRoundedId(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && isRounded(message.id)
}

/** Whether an id is a string or an exact number. */
function isRounded(id: JsonValue | undefined): boolean {
  return typeof id === 'number' && !Number.isSafeInteger(id)
}

/** For a duplicate key, the last value, as JSON parsers do. */
export function memberText(text: string, at: number, name: string): string {
  let found = ''
  visitJson(text, at, (key, from, to) => {
    if (key === name) found = text.slice(from, to)
  })
  return found
}
