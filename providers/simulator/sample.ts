import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Maximum depth, for schemas that refer to themselves. */
const DEPTH_LIMIT = 8

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
  ['email', 'someone@example.com'],
  ['uri', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
])

/**
 * A deterministic value for a JSON schema: objects with their required members, arrays with one
 * item. Patterns and rarer keywords are ignored.
 */
export function sample(schema: JsonValue | undefined): JsonValue {
  return sampleAt(schema, schema, 0)
}

function sampleAt(
  schema: JsonValue | undefined,
  root: JsonValue | undefined,
  depth: number,
): JsonValue {
  if (!isJsonObject(schema) || depth > DEPTH_LIMIT) return null
  if (typeof schema.$ref === 'string') return sampleAt(resolve(schema.$ref, root), root, depth + 1)
  const given = [schema.const, schema.default, first(schema.enum), first(schema.examples)]
  const value = given.find((candidate) => candidate !== undefined)
  if (value !== undefined) return value
  const choice = first(schema.anyOf) ?? first(schema.oneOf) ?? first(schema.allOf)
  if (choice !== undefined) return sampleAt(choice, root, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, root, depth)
    case 'array':
      return Array.from({ length: itemCount(schema) }, () =>
        sampleAt(schema.items, root, depth + 1),
      )
    case 'string':
      return sampleString(schema)
    case 'integer':
      return Math.ceil(sampleNumber(schema))
    case 'number':
      return sampleNumber(schema)
    case 'boolean':
      return true
    default:
      return null
  }
}

function sampleObject(schema: JsonObject, root: JsonValue | undefined, depth: number): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.fromEntries(
    required
      .filter((name) => typeof name === 'string')
      .map((name) => [name, sampleAt(properties[name], root, depth + 1)]),
  )
}

function sampleString(schema: JsonObject): string {
  const text = FORMATS.get(schema.format) ?? 'example'
  const { minLength, maxLength } = schema
  const padded = typeof minLength === 'number' ? text.padEnd(Math.min(minLength, 1000), '.') : text
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded
}

function sampleNumber(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum } = schema
  if (typeof minimum === 'number') return minimum
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1
  return typeof maximum === 'number' ? Math.min(1, Math.floor(maximum)) : 1
}

function itemCount({ minItems, maxItems }: JsonObject): number {
  const wanted = typeof minItems === 'number' ? minItems : 1
  return Math.max(0, Math.min(wanted, typeof maxItems === 'number' ? maxItems : wanted, 100))
}

function typeOf(schema: JsonObject): JsonValue | undefined {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== 'null')
  return schema.type ?? (isJsonObject(schema.properties) ? 'object' : undefined)
}

function first(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) ? list[0] : undefined
}

/** The part of the schema for a local reference such as `#/$defs/item`. */
function resolve(reference: string, root: JsonValue | undefined): JsonValue | undefined {
  let node = root
  for (const key of reference.split('/').slice(1)) {
    node = isJsonObject(node) && Object.hasOwn(node, key) ? node[key] : undefined
  }
  return node
}
