import type { JsonObject, JsonValue } from 'model-gateway/plugin'

const BYTES = Float32Array.BYTES_PER_ELEMENT
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Little-endian 32-bit floats in base64, as OpenAI's clients read them. */
function base64Of(numbers: readonly number[]): string {
  return Buffer.from(new Float32Array(numbers).buffer).toString('base64')
}

/**
 * An embedding in the requested `encoding_format`, converted between floats and base64 if needed.
 * Other values are unchanged.
 */
export function askedFormat(embedding: JsonValue | undefined, call: JsonObject) {
  const { encoding_format: format, output_dtype: numbers } = call
  if ((numbers ?? 'float') !== 'float') return embedding
  if (format === 'base64') return isNumbers(embedding) ? base64Of(embedding) : embedding
  return typeof embedding === 'string' && (format ?? 'float') === 'float'
    ? (floatsOf(embedding) ?? embedding)
    : embedding
}

function isNumbers(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')
}

/** Undefined if the text is not floats in base64. */
function floatsOf(text: string): number[] | undefined {
  const bytes = Uint8Array.from(BASE64.test(text) ? Buffer.from(text, 'base64') : [])
  if (bytes.length === 0 || bytes.length % BYTES !== 0) return undefined
  const floats = [...new Float32Array(bytes.buffer)]
  return floats.every(Number.isFinite) ? floats : undefined
}
