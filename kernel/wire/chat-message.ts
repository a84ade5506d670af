import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'

/** The text of a message or delta; a refusal replaces the text. */
export function textOf({ content, refusal }: JsonObject): string {
  if (typeof content === 'string' && content !== '') return content
  if (Array.isArray(content)) {
    const texts = content.map((part) => (isJsonObject(part) ? said(part.text) : undefined) ?? '')
    return texts.join('')
  }
  return said(refusal) ?? ''
}

/** The arguments of a call as text; some upstreams send an object. */
export function argumentsOf({ arguments: written }: JsonObject): string {
  if (typeof written === 'string') return written
  return isJsonObject(written) ? JSON.stringify(written) : ''
}

/** A non-empty text. */
export function said(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
